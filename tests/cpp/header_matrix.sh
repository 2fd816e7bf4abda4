#!/usr/bin/env bash
# dataline.hpp under one compiler and every standard, with and without exceptions, and each of its headers alone, with no
# warning let through.
#   header_matrix.sh ROOT gcc|clang [some]     some: the oldest and the newest standard, without making code; its headers alone by gcc only
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$1 compiler=$2 part=${3:-all}
standards=(c++17 c++20 c++2b)
code=(-O1 -c)
[ "$part" = all ] || standards=(c++17 c++2b) code=(-fsyntax-only)
case $compiler in gcc) cxx=g++ ;; clang) cxx=clang++ ;; esac
command -v "$cxx" >/dev/null || { echo "skipped: $cxx is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
include=$root/bindings/cpp/include
strict=(-Wall -Wextra -pedantic -Werror -Wundef -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
failures=0

# try SHOULD(pass|fail) standard file flag...
try() {
  local should=$1 standard=$2 file=$3 got=pass
  shift 3
  "$cxx" -std="$standard" "${strict[@]}" "${code[@]}" -o "$scratch/made.o" -I"$include" -I"$root/capi" "$@" "$file" 2>"$scratch/log" || got=fail
  if [ "$got" != "$should" ]; then
    echo "$cxx -std=$standard $* $(basename "$file"): expected $should, got $got"
    head -n 20 "$scratch/log"
    failures=$((failures + 1))
  fi
}

# The loop of README, so that templates are instantiated too.
cat >"$scratch/use.cpp" <<'CPP'
#include <dataline.hpp>
#include <dataline.hpp>
float use(const dataline::Dataset& dataset);
float use(const dataline::Dataset& dataset) {
  dataline::Loader loader(dataset, {{"batch_size", 128}, {"shuffle", "full"}});
  float sum = 0;
  for (dataline::Batch batch : loader) {
    for (float value : batch["image"].as<float>()) sum += value;
    for (auto row : batch["text"].rows<unsigned char>()) sum += row.empty() ? 0.0f : static_cast<float>(row[0]);
  }
  return sum;
}
CPP
for header in "$include"/dataline/*.hpp; do
  name=$(basename "$header" .hpp)
  printf '#include <dataline/%s.hpp>\n#include <dataline/%s.hpp>\n' "$name" "$name" >"$scratch/$name.cpp"
done
# The checks can fail: a result that is thrown away, and a type without a dtype.
printf '#include <dataline.hpp>\nvoid use(dataline::Loader& l);\nvoid use(dataline::Loader& l) { l.try_next(); }\n' >"$scratch/unchecked"
printf '#include <dataline.hpp>\nauto use(dataline::View v) { return v.as<char>(); }\n' >"$scratch/no_dtype"

for standard in "${standards[@]}"; do
  try pass $standard "$scratch/use.cpp"
  try pass $standard "$scratch/use.cpp" -fno-exceptions -fno-rtti
  try fail $standard "$scratch/unchecked" -fsyntax-only -x c++
  try fail $standard "$scratch/no_dtype" -fsyntax-only -x c++
done
# Below C++17 one plain error, and nothing else to read.
for standard in c++98 c++11 c++14; do
  printf '#include <dataline.hpp>\n' | "$cxx" -std="$standard" -fsyntax-only -I"$include" -I"$root/capi" -x c++ - 2>"$scratch/log" || true
  if [ "$(grep -c 'error:' "$scratch/log")" -ne 1 ] || ! grep -q 'error:.*dataline.hpp needs C++17 or later' "$scratch/log"; then
    echo "$cxx -std=$standard: expected one error, that C++17 is needed"
    head -n 20 "$scratch/log"
    failures=$((failures + 1))
  fi
done
if [ "$part" = all ] || [ "$compiler" = gcc ]; then
  for source in "$scratch"/*.cpp; do try pass c++17 "$source" -fsyntax-only; done
fi
echo "$cxx: $(ls "$include/dataline" | wc -l) headers, $failures failures"
[ "$failures" -eq 0 ]
