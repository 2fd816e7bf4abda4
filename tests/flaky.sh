#!/usr/bin/env bash
# Runs each test that has threads or clocks again and again beside others of them, until it fails: tests that fail once in
# hundreds of runs are found here, not in CI.
#   tests/flaky.sh [--minutes N] [--times N] [--load N] [--build FOLDER] [--only REGEX] [--list]
# Defaults: 30 minutes, 200 runs of each test, six others beside it, build/release. It continues where the last call
# ended: the ledger is tests/results/flaky.tsv, and tests with the fewest runs come first. A test whose program or script has
# changed begins anew. The output of a failure is kept in build/flaky. Status 1: a test of the ledger has failed.
# SPDX-License-Identifier: Apache-2.0
exec python3 "$(dirname "$0")/support/flaky.py" "$@" </dev/null
