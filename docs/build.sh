#!/usr/bin/env bash
# Builds the site: build/docs/site/index.html. Half a minute the first time, then seconds.
#   docs/build.sh            everything; warnings are errors
#   docs/build.sh --serve    and then shows it on http://localhost:8000
# What it uses, where it is not told:
#   DATALINE_BIN      the program `dataline`, whose tables become pages (otherwise that of build/release, or on the PATH)
#   DATALINE_DOCS     where it builds (otherwise build/docs)
# The generator is installed there too, at the versions of docs/requirements.txt (130 MB). Ends with 77 and one line where it
# cannot be.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/.." && pwd)
build=${DATALINE_DOCS:-$root/build/docs}
serve=false
case ${1:-} in
  '') ;;
  --serve) serve=true ;;
  *) echo "usage: docs/build.sh [--serve]" >&2; exit 2 ;;
esac

skip() { echo "skipped: $*"; exit 77; }

program=${DATALINE_BIN:-}
if [[ -z $program ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    [[ ! -x $program ]] || break
  done
fi
[[ -x $program ]] || skip "there is no program dataline: build it (examples/run.sh --quick does), or name it with DATALINE_BIN"
"$here/setup.sh" "$build/venv" || exit $?

# A Python that knows nothing of the caller's packages and writes nothing into the tree.
python() { env PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 "$build/venv/bin/python" "$@"; }
rm -rf "$build/source"
python "$here/generate/assemble.py" "$program" "$build/source"
DATALINE_DOCS_VERSION=$("$program" version --json | sed 's/.*"version": *"\([^"]*\)".*/\1/') \
  python -m sphinx -W --keep-going -q -c "$here" -d "$build/cache" -b html "$build/source" "$build/site"
echo "built: $build/site/index.html"
if $serve; then python -m http.server --directory "$build/site" --bind localhost 8000; fi
