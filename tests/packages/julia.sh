# shellcheck shell=bash disable=SC2154  # what packages.sh gives
# The Julia package: Pkg takes the unpacked package and downloads its artifact (from a folder here, by the digests of
# Artifacts.toml), then the README's first code runs; nothing of CMake or a checkout is there. Then the site's quickstart on files, a depot's Overrides.toml that
# names another library, and an artifact that was damaged, which Pkg refuses. Debian 12's Julia is that of bindings/julia/setup.sh.
# SPDX-License-Identifier: Apache-2.0

try_julia() {
  local artifacts=$1 package artifact at=$scratch/julia
  if [[ $suite != bookworm ]]; then
    echo "packages: julia is left out: the Julia that can be had is Debian 11's, whose package fits Debian 12 alone"
    return
  fi
  package=$(find "$artifacts" -maxdepth 1 -name 'Dataline.jl-*.tar.gz' | head -n 1)
  artifact=$(find "$artifacts" -maxdepth 1 -name 'dataline-*-julia-x86_64-linux-gnu.tar.gz' | head -n 1)
  [[ -n $package && -n $artifact ]] || fail "julia: there is no package with its artifact in $artifacts (bindings/julia/package.sh)"
  system julia --without-tree
  mkdir -p "$at/packages/core" "$at/packages/bindings/julia" "$at/work"
  cp "$package" "$artifact" "$at/packages/"
  cp "$root/bindings/julia/setup.sh" "$at/packages/bindings/julia/"
  printf '#!/bin/sh\n' >"$at/packages/core/setup.sh" # nothing is compiled here
  chmod +x "$at/packages/core/setup.sh"
  awk '/^```julia$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/julia/README.md" >"$at/work/first.jl"
  awk '/^```julia$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/docs/pages/quickstart/julia.md" >"$at/work/quickstart.jl"
  cat >"$at/work/install.sh" <<'SCRIPT'
set -euo pipefail
cd /work
apt-get install -y -qq --no-install-recommends curl ca-certificates >/dev/null # Julia 1.5 downloads with it
/packages/bindings/julia/setup.sh
cat >>~/.profile <<'PROFILE'
export PATH=$HOME/.cache/dataline/julia/bin:$PATH JULIA_PKG_OFFLINE=true
PROFILE
# No registry is in reach: an empty one.
mkdir -p ~/.julia/registries/Empty
printf 'name = "Empty"\nuuid = "7f0c4c9e-4b0b-4f3f-8d27-1a1a1a1a1a1a"\nrepo = ""\n\n[packages]\n' >~/.julia/registries/Empty/Registry.toml
SCRIPT
  cat >"$at/work/first.sh" <<'SCRIPT'
set -euo pipefail
. ~/.profile
cd /work
tar -xzf /packages/Dataline.jl-*.tar.gz
grep -q '^    url = "https://github.com/dataline/dataline/releases/download/v' Dataline.jl-*/Artifacts.toml
sed -i 's|https://github.com/dataline/dataline/releases/download/[^/]*|file:///packages|' Dataline.jl-*/Artifacts.toml
julia -e 'import Pkg; Pkg.develop(path = only(filter(startswith("Dataline.jl-"), readdir()))); Pkg.instantiate()'
julia first.jl
SCRIPT
  cat >"$at/work/more.sh" <<'SCRIPT'
set -euo pipefail
. ~/.profile
cd /work
julia -e 'using Dataline; println(Dataline.find_library().owner, ", version ", Dataline.version())'
julia -e 'import Pkg; Pkg.build("Dataline"; verbose = true)' # builds nothing
[ ! -e Dataline.jl-*/deps/usr ]
# The quickstart, on random digits in MNIST's files.
julia -e 'header(dims...) = [0x00, 0x00, 0x08, UInt8(length(dims)), (reverse(reinterpret(UInt8, [UInt32(d)])) for d in dims)...]
  bytes(parts) = reduce(vcat, [p isa UInt8 ? [p] : collect(p) for p in parts])
  mkpath("data")
  write("data/train-images-idx3-ubyte", bytes(header(128, 28, 28)), rand(UInt8, 128 * 784))
  write("data/train-labels-idx1-ubyte", bytes(header(128)), rand(0x00:0x09, 128))'
julia quickstart.jl
# Another library by Overrides.toml.
mkdir -p other && tar -xzf /packages/dataline-*-julia-*.tar.gz -C other
printf '[75bb0ae2-c9fd-4667-9ebc-63b8f58d6e4f]\ndataline = "/work/other"\n' >~/.julia/artifacts/Overrides.toml
julia -e 'using Dataline; println("overridden: ", Dataline.find_library().path)'
rm -r ~/.julia/artifacts
# One byte of the download is another.
cp /packages/dataline-*-julia-*.tar.gz damaged.tar.gz
printf 'x' | dd of=damaged.tar.gz bs=1 seek=1000 conv=notrunc status=none
mv damaged.tar.gz /packages/dataline-*-julia-*.tar.gz
if julia -e 'import Pkg; Pkg.instantiate()' >refused.log 2>&1; then echo "a damaged artifact was installed"; exit 1; fi
if julia -e 'using Dataline' 2>refused.log; then echo "it ran without a library"; exit 1; fi
grep -o 'import Pkg; Pkg.instantiate()' refused.log
SCRIPT
  logged julia-install inside julia root bash /work/install.sh || fail "julia: Julia itself cannot be had in the minimal system"
  first_batch 'Julia package, its artifact' inside julia root bash /work/first.sh
  grep -q '^epoch 2: 15 batches$' "$scratch/first_batch.log" || fail "julia: the README's program did not print its batches"
  logged julia-more inside julia root bash /work/more.sh || fail "julia: the package does not use its artifact as it should"
  grep -q "^the package's artifact, version" "$scratch/julia-more.log" || fail "julia: another library than the artifact's was loaded"
  grep -q '^epoch 2: 2 batches$' "$scratch/julia-more.log" || fail "julia: the quickstart did not print its batches"
  grep -q '^overridden: /work/other/lib/libdataline.so$' "$scratch/julia-more.log" || fail "julia: Overrides.toml was not followed"
}
