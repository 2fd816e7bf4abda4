#!/usr/bin/env bash
# All the proof in one command: sets the machine up, then runs the parts (tests/proof) whose inputs have not passed here before.
#   tests/run.sh [--only PART,PART...] [--long] [--fresh] [--times FILE] [--list] [--why PART] [--isolate PART]
# tests/README.md describes parts and keys, --help the options. A part that fails does not stop the later ones. What was skipped is
# listed with its reason; the last line is `N passed, N failed, N skipped`.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

long=()
for word in "$@"; do
  case $word in
    --help | -h | --list | --why*) exec python3 -B tests/proof "$@" ;;
    --long) long=(--long) ;;
  esac
done
setup=()
tests/setup.sh "${long[@]}" || setup=(--setup-failed)
command -v python3 >/dev/null || { echo "  FAILED setup: there is no python3"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
exec python3 -B tests/proof "${setup[@]}" "$@"
