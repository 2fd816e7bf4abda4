#!/usr/bin/env bash
# The gate of the site: builds it, runs every code block, follows every link, and looks at each page in a headless Chromium.
#   docs/check.sh [--quick]     --quick: without blocks in Rust, Go and Julia, whose programs are compiled for seconds, and with a
#                               browser only where there is a Chromium; otherwise one is installed
#   docs/check.sh --pictures DIR    also keeps pictures of some pages
#   docs/check.sh --only site|code  code: the code blocks; site: everything else
# What it uses, where it is not told:
#   DATALINE_LIB_DIR      the folder of libdataline (otherwise build/release/lib)
#   DATALINE_BIN          the program `dataline` (otherwise that of build/release)
#   DATALINE_PYTHON_VENV  an environment with the Python package (otherwise build/python/venv, which bindings/python/check.sh makes)
#   DATALINE_DOCS         where the site is built (otherwise build/docs)
# Ends with 77 and one line where the generator cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/.." && pwd)
build=${DATALINE_DOCS:-$root/build/docs}
quick=() pictures=() only=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=(--quick) ;;
    --pictures) pictures=(--pictures "$2") && shift ;;
    --only) only=${2:-} && shift ;;
    *) echo "usage: docs/check.sh [--quick] [--pictures DIR] [--only site|code]" >&2; exit 2 ;;
  esac
  shift
done
case $only in '' | site | code) ;; *) echo "docs/check.sh: --only: expected site or code, got \"$only\"" >&2; exit 2 ;; esac
export DATALINE_LIB_DIR=${DATALINE_LIB_DIR:-$root/build/release/lib}
export DATALINE_BIN=${DATALINE_BIN:-$root/build/release/bin/dataline}
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/build/cargo}
step() { printf '== %s\n' "$*"; }

python=$build/venv/bin/python

code_blocks() {
  step "code blocks"
  "$python" "$here/check/blocks.py" --self-test
  local package julia
  package=${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python
  if (cd / && "$package" -c 'import dataline, numpy, torch') 2>/dev/null; then export DATALINE_PYTHON=$package; else
    echo "left out: blocks in Python, for $package has not dataline, NumPy and PyTorch (bindings/python/check.sh makes it)"
  fi
  if [[ ${#quick[@]} -eq 0 ]]; then
    # shellcheck source=/dev/null
    . "$root/bindings/go/toolchain.sh" && use_go || true
    if julia=$("$root/bindings/julia/setup.sh" --where); then
      mkdir -p "$build/julia"
      export DATALINE_JULIA="env JULIA_DEPOT_PATH=$build/julia JULIA_PKG_OFFLINE=true $julia --startup-file=no --project=$root/examples/julia"
    fi
  fi
  "$python" "$here/check/blocks.py" "$here/pages" "${quick[@]}"
}

if [[ $only == code ]]; then
  "$here/setup.sh" "$build/venv" || exit $?
  code_blocks
  exit 0
fi
step "build"
"$here/build.sh" || exit $?
step "links"
"$python" "$here/check/links.py" "$build/site" "$root"
[[ $only == site ]] || code_blocks

step "browser"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $chromium && ${#quick[@]} -eq 0 ]] && command -v apt-get >/dev/null; then
  as_root=""
  [[ $(id -u) -eq 0 ]] || as_root="sudo -n"
  echo "installing chromium"
  { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } </dev/null >/dev/null 2>&1 || true
  chromium=$(command -v chromium || true)
fi
if [[ -z $chromium ]]; then
  echo "left out: there is no Chromium (Debian: apt-get install chromium)"
  exit 0
fi
# Its driver alone; the browser is the system's.
playwright="playwright==1.65.2 greenlet==3.5.6"
# shellcheck disable=SC2086
if [[ $(cat "$build/browser/ready" 2>/dev/null) != "$playwright" ]]; then
  rm -rf "$build/browser"
  if ! timeout 600 "$build/venv/bin/pip" install -q --disable-pip-version-check --target "$build/browser" $playwright; then
    echo "left out: the browser's driver could not be installed; is a package registry reachable?"
    exit 0
  fi
  echo "$playwright" >"$build/browser/ready"
fi
PYTHONPATH=$build/browser "$python" "$here/check/browser.py" "$build/site" "$chromium" "${pictures[@]}"
PYTHONPATH=$build/browser "$python" "$here/check/report.py" "$DATALINE_BIN" "$chromium" "$build/reports"
