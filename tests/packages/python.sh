# shellcheck shell=bash disable=SC2154  # what packages.sh gives
# The wheel: installed by pip into an empty environment of a bare system whose Python is Debian's, then the README's first code
# and the shell as `python -m dataline`; and the sdist, which builds the library from the sources inside.
# SPDX-License-Identifier: Apache-2.0

try_python() {
  local artifacts=$1 at=$scratch/python
  compgen -G "$artifacts/dataline-*-cp39-abi3-*.whl" >/dev/null || fail "python: there is no wheel in $artifacts (bindings/python/package.sh)"
  system python --without-tree
  mkdir -p "$at/packages" "$at/work"
  # The portable archive's name is alike; pip must not take it for an sdist.
  cp "$artifacts"/dataline-*.whl "$at/packages/"
  find "$artifacts" -maxdepth 1 -name 'dataline-*.tar.gz' ! -name '*-linux-*' ! -name '*-vcpkg*' ! -name '*-julia-*' -exec cp {} "$at/packages/" \;
  awk '/^```python$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/python/README.md" >"$at/work/first.py"
  cat >"$at/work/first.sh" <<'SCRIPT'
set -euo pipefail
cd /work
apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check --find-links /packages --only-binary=:all: "dataline[numpy]"
env/bin/python first.py
SCRIPT
  cat >"$at/work/more.sh" <<'SCRIPT'
set -euo pipefail
cd /work
head -c 160 /dev/zero >a.raw
# The shell in the wheel, by both of its names.
env/bin/python -m dataline info 'raw:a.raw?dtype=u8&shape=16' >/dev/null
[ "$(env/bin/python -m dataline cat 'raw:a.raw?dtype=u8&shape=16' | wc -c)" -eq 160 ]
[ "$(env/bin/dataline version)" = "$(env/bin/python -m dataline version)" ]
SCRIPT
  cat >"$at/work/sdist.sh" <<'SCRIPT'
set -euo pipefail
cd /work
apt-get install -y -qq --no-install-recommends g++ python3-dev libhwy-dev >/dev/null
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # there is no ccache here
python3 -m venv built
built/bin/pip install -q --disable-pip-version-check numpy /packages/dataline-*.tar.gz
built/bin/python first.py
SCRIPT
  first_batch 'pip install, the wheel' inside python root bash /work/first.sh
  python_printed
  logged python-more inside python root bash /work/more.sh || fail "python: the shell in the wheel failed"
  first_batch 'pip install, the sdist' inside python root bash /work/sdist.sh
  python_printed
}
python_printed() {
  grep -q '^epoch 1: 8 batches, the last (104, 4)$' "$scratch/first_batch.log" || fail "python: the README's code did not print its batches"
}
