#!/usr/bin/env bash
# The main job on the real files of MNIST: an accuracy of 97 % or more, and a resume that gives the same weights.
#   tests/examples/real_mnist.sh      DATALINE_MNIST: their folder (otherwise ../shared/data/mnist); 77 where they are not
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
data=${DATALINE_MNIST:-../shared/data/mnist}
if [[ ! -d $data ]]; then echo "skipped: the MNIST files are not in $data (DATALINE_MNIST names another folder)"; exit 77; fi
report=$(mktemp)
trap 'rm -f "$report"' EXIT
examples/run.sh --data "$data" >"$report" 2>&1 || { tail -n 20 "$report"; exit 1; }
grep -E 'test accuracy|waited for data|resume' "$report"
grep -q 'resume: weights identical' "$report"
awk '/^test accuracy:/ { best = $3 } END { exit !(best >= 97) }' "$report"
