#!/usr/bin/env bash
# Takes the library of a -g build as the new ABI baseline: symbols.txt and libdataline.abi.
# Of a build in the tree, without objects of another checkout (ccache): where they name other folders, their types are left out.
# Run it only when names were added; a change of what is there needs a new DL_ABI_VERSION first.
#   capi/abi/update.sh [build/release]
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=${1:-$root/build/release}/lib/libdataline.so

python3 "$root/tests/law/check_symbols.py" --list "$library" >"$root/capi/abi/symbols.txt"
python3 "$root/tests/law/check_abi.py" --update "$root/capi" "$library"
echo "updated; read the difference before it is committed"
