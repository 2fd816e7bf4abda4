#!/bin/bash
# Mutants, with the libclang they are made by: run.sh [what run.py takes]. Hours on two cores; README.md says what it does.
# Status 77: libclang cannot be had here.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros  # as tests/run.sh
venv=build/mutants/venv
if ! "$venv/bin/python" -c 'import clang.cindex' 2>/dev/null; then
  mkdir -p build/mutants
  # The version of Debian 12's clang, whose library and headers are used where they are installed.
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q libclang==14.0.6; } >build/mutants/venv.log 2>&1 ||
    { echo "skipped: no libclang from PyPI (build/mutants/venv.log)"; exit 77; }
fi
exec python3 tests/mutants/run.py --python "$PWD/$venv/bin/python" "$@"
