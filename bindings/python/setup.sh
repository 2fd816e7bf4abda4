#!/usr/bin/env bash
# Installs what building and testing the Python package needs and is missing (Debian, Ubuntu; root or sudo, and the
# package registries): Debian's python3, NumPy and PyTorch, and a virtual environment with the tools in
# build/python/venv. Does nothing when all is there. What it cannot get it names, and ends with 77.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${DATALINE_PYTHON_VENV:-$(cd "$here/../.." && pwd)/build/python/venv}
needed="python3 python3-venv python3-dev python3-numpy gcc g++ cmake ninja-build binutils"
optional="python3-torch" # 40 MB to fetch and 180 on disk, less its own needs; without it the tests of dataline.torch are left out

# What the library itself is built with, Highway too, where it is not there already (DATALINE_LIB_DIR, find_package).
"$here/../../core/setup.sh" || echo "setup: the library cannot be built here; an installed one will do"

missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  # shellcheck disable=SC2086
  missing=$(missing_of $needed $optional)
  if [ -n "$missing" ]; then
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
    echo "setup: installing $missing"
    { $as_root apt-get update -qq &&
      for package in $missing; do
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" || true
      done; } </dev/null >/dev/null 2>&1 || true
    # shellcheck disable=SC2086
    missing=$(missing_of $needed)
    if [ -n "$missing" ]; then
      echo "skipped: could not install $missing"
      exit 77
    fi
  fi
fi

# Debian's own Python, for its NumPy and PyTorch are made for that one.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
if ! cmp -s "$here/tools.txt" "$venv/ready"; then
  echo "setup: tools in $venv"
  rm -rf "$venv"
  if ! { "$python" -m venv --system-site-packages "$venv" && timeout 600 "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/tools.txt"; }; then
    echo "skipped: pip could not install bindings/python/tools.txt; is a package registry reachable?"
    exit 77
  fi
  cp "$here/tools.txt" "$venv/ready"
fi
echo "setup: nothing is missing"
