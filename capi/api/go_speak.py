"""What the names and the text of the header are in the Go package.

SPDX-License-Identifier: Apache-2.0
"""

import re

from ctypes_of import array
from go import SCALARS
from methods import CLASSES, choice_of, kind_of, values
from speak import Speaker, camel_code, lowered
from words import camel, wrapped

WIDTH = 118
VALUE_NAMES = {"dl_progress": "OpenProgress", "dl_error": "Error"}
CHOICE_NAMES = {"DL_TUNE": "Tune"}
SOFT_NAMES = {"DL_END_OF_EPOCH": "EndOfEpoch", "DL_END": "End"}  # results that are not errors
INITIALISMS = re.compile(r"(Cpu|Uri|Io)(?=[A-Z]|$)")  # as Go writes them
INT = re.compile(r"workers$|depth$|^epoch$|^step$")  # other calls of the package have these as int


def go_camel(name):
    return INITIALISMS.sub(lambda found: found[0].upper(), camel(name))


def code_name(name):
    soft = SOFT_NAMES.get(name)
    return soft or "Err" + INITIALISMS.sub(lambda found: found[0].upper(), camel_code(name.replace("ERR_", ""), "DL_"))


def value_name(struct):
    return VALUE_NAMES.get(struct) or camel(struct)


def field_name(member):
    return go_camel(member["name"].removesuffix("_ns") if kind_of(member) == "time" else member["name"])


def field_type(member):
    kind = kind_of(member)
    if kind == "choice":
        return CHOICE_NAMES[choice_of(member)]
    named = {"code": "Code", "flag": "bool", "time": "time.Duration", "text": "string"}.get(kind)
    small = member["type"] == "int32_t" or INT.search(member["name"])
    return named or ("int" if small else SCALARS[member["type"]])


def converted(member):
    """The member of the raw struct, in the type of the field."""
    raw, kind, made = f"raw.{camel(member['name'])}", kind_of(member), field_type(member)
    if kind == "flag":
        return f"{raw} != 0"
    if kind == "text":
        return f"abi.TextOf({raw}[:])" if array(member["type"]) else f"abi.Text({raw})"
    same = made == SCALARS.get(member["type"])
    return raw if same else f"{made}({raw})"


class Go(Speaker):
    """Names of the header as the package has them; godoc has no marks for code."""

    def __init__(self, api):
        super().__init__(api)
        self.known = {"dl_error", *(one["name"] for one in values(api))}

    def code(self, name):
        return code_name(name)

    def constant(self, name):
        group = next((one for one in CHOICE_NAMES if name.startswith(f"{one}_")), None)
        return camel(name.removeprefix("DL_").lower()) if group else name

    def value(self, struct):
        return value_name(struct) if struct in self.known else struct

    def member(self, struct, member):
        if struct not in self.known:
            return f"{struct}.{member}"
        return f"{value_name(struct)}.{field_name(self.members[struct][member])}"

    def function(self, handle, name):
        return f"{CLASSES[handle]}.{go_camel(name)}"

    def text(self, paragraph):
        return super().text(paragraph).replace("`", "")

    def doc(self, paragraphs, indent=""):
        return wrapped(self.about(paragraphs), f"{indent}// ", WIDTH, self.text)

    def type_doc(self, name, paragraphs):
        is_a = re.match(r"(A|An|The) ", paragraphs[0])
        return self.doc([f"{name} {'is' if is_a else 'holds'} {lowered(paragraphs[0])}", *paragraphs[1:]])
