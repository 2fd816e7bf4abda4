#!/usr/bin/env bash
# Makes the Julia package as it is released:
#   Dataline.jl-VERSION.tar.gz                            the package, with an Artifacts.toml; for Pkg.develop, or a registry
#   dataline-VERSION-julia-x86_64-linux-gnu.tar.gz        its artifact: the library, laid out as in a JLL
#   Artifacts.toml                                        what binds the two, for a checkout
#   bindings/julia/package.sh OUT_DIR
# The library is that of the portable archive, glibc 2.28 and later: the one in OUT_DIR, or one that is made now
# (bindings/cpp/packages/tarball.sh). The digests are Pkg's own (setup.sh gets a Julia); git confirms the one of the tree.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[[ $# -eq 1 ]] || { echo "usage: bindings/julia/package.sh OUT_DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
fail() { echo "package: $*" >&2; exit 1; }
tree() { git -C "$root" -c safe.directory='*' "$@"; }
if ! command -v git >/dev/null || ! tree rev-parse HEAD >/dev/null 2>&1; then echo "skipped: the package is packed by git, from a checkout"; exit 77; fi
version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
soname=libdataline.so.$(sed -n 's/^const DL_ABI_VERSION = Int32(\([0-9]*\))/\1/p' "$here/src/constants.jl")
date=$(tree log -1 --format=%ct)
julia=$("$here/setup.sh" --where 2>/dev/null) || { "$here/setup.sh" && julia=$("$here/setup.sh" --where); } || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack() { # pack FOLDER ARCHIVE ENTRY...: the same files make the same archive
  local folder=$1 archive=$2
  shift 2
  tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$date" --format=gnu -c "$@" | gzip -9n >"$archive"
  echo "package: ${archive##*/}, $(($(stat -c %s "$archive") / 1024)) KiB"
}

# ---- The artifact.

portable=dataline-$version-linux-x86_64
archive=$out/$portable.tar.gz
if [[ ! -e $archive ]]; then
  "$root/bindings/cpp/packages/tarball.sh" "$work" || exit $?
  archive=$work/$portable.tar.gz
fi
tar -C "$work" -xzf "$archive"
prefix=$work/prefix
mkdir -p "$prefix/lib" "$prefix/share/licenses/dataline"
cp -P "$work/$portable/lib"/libdataline.so* "$prefix/lib/"
[[ -L $prefix/lib/libdataline.so && -e $prefix/lib/$soname ]] || fail "$archive has no lib/$soname"
cp "$work/$portable/share/doc/dataline"/{LICENSE,NOTICE,dataline.spdx.json} "$prefix/share/licenses/dataline/"
chmod -R u=rwX,go=rX "$prefix" # what the archive says: the digest of the tree has the modes in it
artifact=dataline-$version-julia-x86_64-linux-gnu.tar.gz
pack "$prefix" "$out/$artifact" lib share

rm -f "$out/Artifacts.toml"
cat >"$work/bind.jl" <<'JULIA'
using Pkg.Artifacts, SHA
import Pkg
prefix, out, artifact, url = ARGS
digest = create_artifact(folder -> foreach(part -> cp(joinpath(prefix, part), joinpath(folder, part)), readdir(prefix)))
platform = @static VERSION >= v"1.6" ? Base.BinaryPlatforms.Platform("x86_64", "linux"; libc = "glibc") : Pkg.BinaryPlatforms.Linux(:x86_64; libc = :glibc)
bind_artifact!(joinpath(out, "Artifacts.toml"), "dataline", digest; platform = platform,
    download_info = [(url, bytes2hex(open(sha256, joinpath(out, artifact))))])
println(bytes2hex(digest.bytes))
JULIA
JULIA_DEPOT_PATH=$work/depot "$julia" --startup-file=no "$work/bind.jl" "$prefix" "$out" "$artifact" \
  "https://github.com/dataline/dataline/releases/download/v$version/$artifact" >"$work/digest"
export GIT_DIR=$work/git GIT_WORK_TREE=$prefix
git init -q
git -c core.autocrlf=false -c core.fileMode=true add -Af
[[ $(git write-tree) == "$(cat "$work/digest")" ]] || fail "Pkg's digest of the tree is $(cat "$work/digest"), git's is $(git write-tree)"
unset GIT_DIR GIT_WORK_TREE
echo "package: Artifacts.toml, git-tree-sha1 $(cat "$work/digest")"

# ---- The package.

name=Dataline.jl-$version
mkdir -p "$work/$name"
mapfile -t left_out < <(printf ':!bindings/julia/%s\n' '*.sh' bench .gitignore deps/build_tarballs.jl) # of the checkout
tree ls-files -z -- bindings/julia "${left_out[@]}" | tar -C "$root" --null -T - -c | tar -C "$work/$name" --strip-components=2 -x
cp "$root/LICENSE" "$out/Artifacts.toml" "$work/$name/"
pack "$work" "$out/$name.tar.gz" "$name"
