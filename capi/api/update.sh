#!/usr/bin/env bash
# After a change of capi/dataline.h or core/loader/option_rows.inc: describes them in capi/api.json, and generates from that what
# bindings and readers use.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
python3 "$here/describe.py" capi/dataline.h core/loader/option_rows.inc capi/api.json
python3 "$here/generate.py" capi/api.json "$root"
