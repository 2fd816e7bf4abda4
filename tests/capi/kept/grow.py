"""The header of a later release: dataline.h with members appended to each struct that may grow.

  grow.py dataline.h OUT

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

# A struct that says its size, or whose distance in arrays is said elsewhere (dl_reader_cell).
STRUCT = re.compile(r"typedef struct (dl_\w+) \{\n(.*?)\n\} \1;", re.DOTALL)
# Members that a host does not name are zero, and no warning.
HEAD = '#pragma GCC diagnostic ignored "-Wmissing-field-initializers"\n'
LATER = "  uint64_t later[5]; /* as a later release may append */\n"


def grow(header):
    """The grown header, and how many structs grew."""
    grown = 0

    def longer(match):
        nonlocal grown
        name, members = match.groups()
        if not members.lstrip().startswith("uint32_t struct_size;") and name != "dl_reader_cell":
            return match[0]
        grown += 1
        return f"typedef struct {name} {{\n{members}\n{LATER}}} {name};"

    return HEAD + STRUCT.sub(longer, header) + "#define DL_GROWN\n", grown


def main():
    header = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    text, grown = grow(header)
    if grown != len(re.findall(r"^typedef struct dl_\w+ \{", header, re.MULTILINE)):
        sys.exit(f"{sys.argv[1]}: {grown} structs could be grown; one has a form that grow.py does not know")
    out = pathlib.Path(sys.argv[2])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
