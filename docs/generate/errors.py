"""Errors by code: what the header says of each, with causes and cures from docs/reference/errors.json.

SPDX-License-Identifier: Apache-2.0
"""

import json

ABOUT = """# Errors by code

A call that can fail returns a status: 0 is `DL_OK`, a positive number is a result such as the end of an epoch, a negative one is an error. The message of an
error is one line with the file, offset, sample or option concerned, and with what was expected and what was found; read it first. Errors are local: the dataset
or loader stays usable, unless its code says otherwise. The bindings turn a code into what is usual in their language (an exception, a `Result`,
`errors.Is`), under the name of the code.
"""


def page(api, causes_file):
    causes = json.loads(causes_file.read_text(encoding="utf-8"))
    known = [one["name"] for one in api["status_codes"]]
    missing, unknown = sorted(set(known) - set(causes)), sorted(set(causes) - set(known))
    if missing or unknown:
        raise SystemExit(f"docs: {causes_file.name}: without causes: {missing}; not in dataline.h: {unknown}")
    lines, band = [ABOUT, "## Success\n"], None
    for one in api["status_codes"]:
        if one.get("band") and one["band"] != band:
            band = one["band"]
            lines += [f"## {band.rstrip('.')}", ""]
        says = " ".join(one.get("doc", []))
        lines += [f"### {one['name']}", "", f"Value {one['value']}." + (f" {says[:1].upper()}{says[1:]}." if says else ""), ""]
        entry = causes[one["name"]]
        for cause, cure in entry:
            lines += [f"- **{cause}** {cure}"]
        lines.append("")
    return "\n".join(lines).replace("..\n", ".\n")
