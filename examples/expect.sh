#!/usr/bin/env bash
# expect.sh STATUS REGEX COMMAND...: passes if the command ends with STATUS (one, or "0|1") and its output, taken as one text, matches.
# SPDX-License-Identifier: Apache-2.0
set -u
status=$1 regex=$2
shift 2
output=$("$@" 2>&1)
got=$?
printf '%s\n' "$output"
if [[ ! $got =~ ^($status)$ ]]; then
  printf 'expect.sh: exit status %d, expected %s\n' "$got" "$status"
  exit 1
fi
if [[ ! $output =~ $regex ]]; then
  printf 'expect.sh: the output does not match: %s\n' "$regex"
  exit 1
fi
