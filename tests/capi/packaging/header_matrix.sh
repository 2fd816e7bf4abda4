#!/usr/bin/env bash
# dataline.h alone, under one compiler and every standard, with no warning let through.
#   header_matrix.sh CAPI_FOLDER gcc|clang
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
capi=$1 compiler=$2
case $compiler in gcc) cxx=g++ ;; clang) cxx=clang++ ;; esac
for program in "$compiler" "$cxx"; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# try SHOULD(pass|fail) compiler standard file [flag]: warnings that the compiler knows beyond -Wextra too.
try() {
  local should=$1 got=pass
  "$2" -std="$3" -Wall -Wextra -pedantic -Werror -Wundef -Wshadow \
    -Wconversion -Wsign-conversion -Wcast-align -Wcast-qual "${5:--Wall}" -c -o "$scratch/made.o" -I"$capi" "$4" 2>"$scratch/log" || got=fail
  if [ "$got" != "$should" ]; then
    echo "$2 -std=$3 $(basename "$4"): expected $should, got $got"
    cat "$scratch/log"
    failures=$((failures + 1))
  fi
}

# A standard that this compiler does not know is told, not passed over.
knows() { "$1" -std="$2" -x "$3" -fsyntax-only /dev/null 2>/dev/null || { echo "$1 does not know -std=$2"; return 1; }; }

# Twice, and used: the macros must expand cleanly in each language.
cat >"$scratch/alone.c" <<'C'
#include "dataline.h"
#include "dataline.h"
dl_error error = DL_ERROR_INIT;
dl_status use(dl_loader *loader, dl_batch **out);
dl_status use(dl_loader *loader, dl_batch **out) { return dl_loader_next(loader, -1, out, &error); }
C
cp "$scratch/alone.c" "$scratch/alone.cpp"
# The check can fail: a result thrown away is refused, and so is a line that is not strict C.
printf '#include "dataline.h"\nvoid use(dl_loader *l);\nvoid use(dl_loader *l) { dl_batch *b; dl_loader_next(l, 0, &b, 0); }\n' >"$scratch/unchecked.c"
printf '#include "dataline.h"\nint empty[0];\n' >"$scratch/pedantic.c"
# What may still change can be left out.
printf '#include "dataline.h"\nint32_t use(dl_loader *l);\nint32_t use(dl_loader *l) { return dl_loader_plan_count(l); }\n' >"$scratch/unstable.c"

for standard in c99 c11 c17 c2x; do
  knows "$compiler" $standard c || continue
  try pass "$compiler" $standard "$scratch/alone.c"
  try fail "$compiler" $standard "$scratch/unchecked.c"
  try fail "$compiler" $standard "$scratch/pedantic.c"
  try pass "$compiler" $standard "$scratch/alone.c" -DDL_STABLE_ONLY
  try pass "$compiler" $standard "$scratch/unstable.c"
  try fail "$compiler" $standard "$scratch/unstable.c" -DDL_STABLE_ONLY
done
for standard in c++98 c++03 c++11 c++14 c++17 c++20 c++2b; do
  knows "$cxx" $standard c++ || continue
  try pass "$cxx" $standard "$scratch/alone.cpp" -Wold-style-cast
done
echo "$compiler: $failures failures"
[ "$failures" -eq 0 ]
