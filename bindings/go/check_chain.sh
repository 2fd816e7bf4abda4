#!/usr/bin/env bash
# A job in three pieces, Go, the shell, Go again, each going on from the state of the one before: joined they are the
# bytes of one run.
#   check_chain.sh CHAIN FOLDER      CHAIN: examples/go/chain, built; DATALINE_BIN is the program dataline
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
chain=$1 folder=$2
head -c 160000 /dev/urandom >"$folder/chain.raw"
uri="raw:$folder/chain.raw?dtype=u8&shape=16"
options=(batch_size=32 shuffle=full seed=3 epochs=2)
flags=("${options[@]/#/--}")

"$DATALINE_BIN" cat "$uri" "${flags[@]}" --field data >"$folder/whole"
{
  "$chain" "$uri" - "$folder/one" 100 data "${options[@]}"
  "$DATALINE_BIN" cat "$uri" "${flags[@]}" --field data --load-state "$folder/one" --batches 250 --save-state "$folder/two"
  "$chain" "$uri" "$folder/two" - -1 data "${options[@]}"
} >"$folder/joined"
cmp "$folder/whole" "$folder/joined"
if "$chain" nosuch:uri - - 1 data >/dev/null 2>"$folder/complaint"; then exit 1; fi
[[ $(wc -l <"$folder/complaint") -eq 1 ]] || { cat "$folder/complaint"; exit 1; }
