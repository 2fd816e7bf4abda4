#!/usr/bin/env bash
# The program in the first comment of dataline.h, taken out as it stands, compiles as strict C11 and runs.
#   header_example.sh CAPI_FOLDER LIBRARY_FOLDER CC
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
capi=$1 libraries=$2 cc=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# From the first include to the closing brace of main, without the comment's margin.
sed -n '/^ \*   #include/,/^ \*   }$/ s/^ \* \{0,3\}//p' "$capi/dataline.h" >"$scratch/example.c"
grep -q 'int main' "$scratch/example.c" || { echo "no program in the first comment of dataline.h"; exit 1; }
lines=$(wc -l <"$scratch/example.c")
[ "$lines" -le 25 ] || { echo "the example has grown to $lines lines; it should fit in about twenty"; exit 1; }

# 70 images of 2x3: an IDX file of u8, big-endian header.
{ printf '\0\0\x08\x03\0\0\0\x46\0\0\0\x02\0\0\0\x03'; head -c 420 /dev/zero; } >"$scratch/train"
"$cc" -std=c11 -Wall -Wextra -pedantic -Werror -I"$capi" "$scratch/example.c" -L"$libraries" -ldataline -o "$scratch/example"
LD_LIBRARY_PATH=$libraries "$scratch/example" "idx:$scratch/train" >"$scratch/out"
cat "$scratch/out"
# Batches of 32 samples, the default: 32 + 32 + 6.
[ "$(grep -c 'data: 32 samples' "$scratch/out")" -eq 2 ] && grep -q 'data: 6 samples' "$scratch/out"

# And it says what is wrong: a missing file ends with 1 and a line that names it.
if LD_LIBRARY_PATH=$libraries "$scratch/example" idx:/no/such/file 2>"$scratch/error"; then exit 1; fi
grep -q /no/such/file "$scratch/error"
