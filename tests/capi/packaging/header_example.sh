#!/usr/bin/env bash
# The program in the first comment of dataline.h, and that at the top of the README, taken out as they stand, compile as strict
# C11 and run: on fields of fixed size, on samples that differ in length, and on a file that is not there. So does the function
# beside the first program, which reads a ragged field.
#   header_example.sh CAPI_FOLDER LIBRARY_FOLDER CC
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
capi=$1 libraries=$2 cc=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "$*"; exit 1; }

# From the first include to the closing brace of main, without the comment's margin; the first block of C.
sed -n '/^ \*   #include/,/^ \*   }$/ s/^ \* \{0,3\}//p' "$capi/dataline.h" >"$scratch/header.c"
sed -n '/^```c$/,/^```$/ { /^```$/q; /^```c$/d; p }' "$capi/../README.md" >"$scratch/readme.c"
# The function that reads a ragged field, called for the first field of every batch.
{
  sed -n '/static void print_ragged_bytes/,/^ \*   }$/ s/^ \* \{0,3\}//p' "$capi/dataline.h" >"$scratch/function"
  printf '#include <dataline.h>\n#include <stdio.h>\n'
  cat "$scratch/function"
  sed -e '/^#include/d' -e 's/^ *printf(.*samples.*/      print_ragged_bytes(dl_view_at(dl_batch_views(batch, NULL), 0), info.samples);/' "$scratch/header.c"
} >"$scratch/ragged.c"
grep -q 'offsets\[i + 1\]' "$scratch/function" || fail "the header shows no ragged field"

# 70 images of 2x3: an IDX file of u8, big-endian header. 5 files of 1,000 bytes in a class folder: ragged fields.
{ printf '\0\0\x08\x03\0\0\0\x46\0\0\0\x02\0\0\0\x03'; head -c 420 /dev/zero; } >"$scratch/train"
mkdir -p "$scratch/pictures/cat"
for number in 1 2 3 4 5; do head -c 1000 /dev/zero >"$scratch/pictures/cat/$number.jpg"; done

for name in header readme; do
  example=$scratch/$name
  grep -q 'int main' "$example.c" || fail "$name: no program found"
  lines=$(wc -l <"$example.c")
  [ "$lines" -le 25 ] || fail "$name: the example has grown to $lines lines; it should fit in about twenty"
  "$cc" -std=c11 -Wall -Wextra -pedantic -Werror -I"$capi" "$example.c" -L"$libraries" -ldataline -o "$example"

  LD_LIBRARY_PATH=$libraries "$example" "idx:$scratch/train" >"$scratch/out"
  cat "$scratch/out"
  # Batches of 32 samples, the default: 32 + 32 + 6.
  [ "$(grep -c 'data: 32 samples' "$scratch/out")" -eq 2 ] && grep -q 'data: 6 samples' "$scratch/out"

  LD_LIBRARY_PATH=$libraries "$example" "folder:$scratch/pictures" >"$scratch/out"
  [ "$(cat "$scratch/out")" = 'image: 5 samples' ] || fail "$name: of 5 pictures in one batch it says: $(cat "$scratch/out")"

  # And it says what is wrong: a missing file ends with 1 and a line that names it.
  if LD_LIBRARY_PATH=$libraries "$example" idx:/no/such/file 2>"$scratch/error"; then exit 1; fi
  grep -q /no/such/file "$scratch/error"
done

# Three files of different lengths and first bytes, in the order of their names.
mkdir -p "$scratch/texts/en"
printf abc >"$scratch/texts/en/1.jpg" && printf b >"$scratch/texts/en/2.jpg" && printf dd >"$scratch/texts/en/3.jpg"
"$cc" -std=c11 -Wall -Wextra -pedantic -Werror -I"$capi" "$scratch/ragged.c" -L"$libraries" -ldataline -o "$scratch/ragged"
LD_LIBRARY_PATH=$libraries "$scratch/ragged" "folder:$scratch/texts" >"$scratch/out"
cat "$scratch/out"
diff - "$scratch/out" <<'TEXT' || fail "the function for ragged fields prints something else"
sample 0: 3 bytes, the first is 97
sample 1: 1 bytes, the first is 98
sample 2: 2 bytes, the first is 100
TEXT
