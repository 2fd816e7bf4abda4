"""Errors by code: what the header says of each, with causes and cures from docs/reference/errors.json.

SPDX-License-Identifier: Apache-2.0
"""

import json

from tables import about


def sentence(text):
    """With a capital letter, unless it begins with a name of the header's."""
    return text if "_" in text.split()[0] else text[:1].upper() + text[1:]


def page(api, causes_file):
    causes = json.loads(causes_file.read_text(encoding="utf-8"))
    known = [one["name"] for one in api["status_codes"]]
    missing, unknown = sorted(set(known) - set(causes)), sorted(set(causes) - set(known))
    if missing or unknown:
        raise SystemExit(f"docs: {causes_file.name}: without causes: {missing}; not in dataline.h: {unknown}")
    lines, band = [about("errors"), "## Success\n"], None
    for one in api["status_codes"]:
        if one.get("band") and one["band"] != band:
            band = one["band"]
            lines += [f"## {band.rstrip('.')}", ""]
        says = " ".join(one.get("doc", []))
        lines += [
            f"### {one['name']}",
            "",
            f"Value {one['value']}." + (f" {sentence(says)}." if says else ""),
            "",
        ]
        entry = causes[one["name"]]
        for cause, cure in entry:
            lines += [f"- **{cause}** {cure}"]
        lines.append("")
    return "\n".join(lines).replace("..\n", ".\n")
