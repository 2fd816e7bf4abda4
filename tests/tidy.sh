#!/usr/bin/env bash
# clang-tidy over the sources of core, capi, bindings and examples, with the compile commands of build/release.
#   tests/tidy.sh            the files that differ from the main branch (on it: from the commit before), at most 12
#   tests/tidy.sh --all      every file; an hour on two cores
#   tests/tidy.sh file...
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}

tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [ -z "$tidy" ]; then echo "skipped: clang-tidy is not installed"; exit 77; fi
if [ ! -f "$build/compile_commands.json" ]; then echo "skipped: $build is not configured (cmake --preset release)"; exit 77; fi

# Compile commands without what only gcc understands, and with gcc's own default standard said; prints the sources that clang-tidy may look at.
sources=$(python3 - "$build" <<'PY'
import json, os, re, sys
build = sys.argv[1]
entries = json.load(open(f"{build}/compile_commands.json", encoding="utf-8"))
def sources(entry):
    """Those that a generated file of a build with DATALINE_UNITY includes; else the file itself."""
    path = entry["file"]
    included = re.findall(r'^#include "(.+\.cpp)"$', open(path, encoding="utf-8").read(), re.M) if "/together/" in path else []
    return [{**entry, "file": os.path.abspath(name), "command": entry["command"].replace(path, os.path.abspath(name))} for name in included] or [entry]
entries = [source for entry in entries for source in sources(entry)]
for entry in entries:
    entry["command"] = re.sub(r" -fno-gnu-unique| -Wno-subobject-linkage| --param=\S+| -Winvalid-pch -include \S+", "", entry["command"])
    if entry["file"].endswith(".cpp") and " -std=" not in entry["command"]:
        entry["command"] += " -std=gnu++17"
os.makedirs(f"{build}/tidy", exist_ok=True)
json.dump(entries, open(f"{build}/tidy/compile_commands.json", "w", encoding="utf-8"))
names = {os.path.relpath(entry["file"]) for entry in entries}
print("\n".join(sorted(name for name in names if name.startswith(("core/", "capi/", "bindings/", "examples/")) and name.endswith((".c", ".cpp")))))
PY
)

changed() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=$(git rev-parse -q --verify HEAD~1 || true); fi
  if [ -n "$base" ]; then git diff --name-only "$base" -- '*.cpp' '*.c' | sort -u; fi
}

case ${1:-} in
  --all) files=$sources ;;
  "") files=$(comm -12 <(echo "$sources") <(changed 2>/dev/null) | awk 'NR <= 12') ;;
  *) files=$(printf '%s\n' "$@") ;;
esac
if [ -z "$files" ]; then echo "no source differs"; exit 0; fi

echo "clang-tidy: $(wc -l <<<"$files") of $(wc -l <<<"$sources") files"
tr '\n' '\0' <<<"$files" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$build/tidy" --quiet --warnings-as-errors='*' 2>/dev/null
