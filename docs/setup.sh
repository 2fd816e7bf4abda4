#!/usr/bin/env bash
# Installs the generator of the site into a virtual environment: setup.sh VENV. Ends with 77 and one line where it cannot.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$1
if [[ $(cat "$venv/ready" 2>/dev/null) == "$(cat "$here/requirements.txt")" ]]; then exit 0; fi

python=python3
[[ ! -x /usr/bin/python3 ]] || python=/usr/bin/python3
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null && command -v apt-get >/dev/null; then
  as_root=""
  [[ $(id -u) -eq 0 ]] || as_root="sudo -n"
  echo "setup: installing python3 python3-venv"
  { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends python3 python3-venv; } </dev/null >/dev/null 2>&1 || true
fi
"$python" -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  { echo "skipped: the site needs Python 3.11 with venv (Debian: apt-get install python3-venv)"; exit 77; }
echo "setup: Sphinx and its theme in $venv"
rm -rf "$venv"
"$python" -m venv "$venv"
if ! timeout 600 "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/requirements.txt"; then
  echo "skipped: pip could not install docs/requirements.txt; is a package registry reachable?"
  exit 77
fi
cp "$here/requirements.txt" "$venv/ready"
