#!/usr/bin/env bash
# At a release: compiles the program with its header and keeps it in programs/, for this machine.
#   tests/capi/kept/keep.sh LIBRARY_FOLDER
# A kept program is never compiled again: what it was built with is what hosts have.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
header=$here/../../../capi
number() { sed -n "s/^#define DL_VERSION_$1 //p" "$header/dataline.h"; }
out=$here/programs/$(number MAJOR).$(number MINOR).$(number PATCH)-$(uname -m)
[ ! -e "$out" ] || { echo "keep.sh: $out is kept already" >&2; exit 1; }
mkdir -p "$here/programs"
cd "$here" # __FILE__ is a name without folders
"${CC:-cc}" -std=c11 -O2 -s -Wl,-z,noseparate-code -I"$header" ./*.c -L"$1" -ldataline -o "$out"
python3 run.py "$out" "$1" "$header/api.json"
