"""The C++ over simple calls: dataline/calls.hpp, classes from which those of dataline.hpp inherit their simple calls.

SPDX-License-Identifier: Apache-2.0
"""

from methods import CLASSES, members, methods
from speak import Speaker
from words import HEAD, call_lines, wrapped

FILE = "bindings/cpp/include/dataline/calls.hpp"
WIDTH = 110


class Cpp(Speaker):
    def doc(self, paragraphs):
        joined = " ".join(self.about(paragraphs))
        return wrapped([joined], "  // ", WIDTH, self.text)

    def text(self, paragraph):
        return super().text(paragraph).replace("`", "")


def function(head, body):
    """A function of one statement, in one line where it fits."""
    whole = f"  {head} {{ {body} }}"
    if len(whole) <= WIDTH:
        return [whole]
    if len(body) + 4 <= WIDTH:
        return [f"  {head} {{", f"    {body}", "  }"]
    called, _, rest = body.partition("(")
    return [
        f"  {head} {{",
        *call_lines(f"    {called}(", rest.removesuffix(");").split(", "), ");", " " * (len(called) + 5), WIDTH),
        "  }",
    ]


def method(cpp, one):
    about, errors = one.doc(), one.errors()
    if one.struct:
        borrows = (
            " Texts borrow from this object."
            if any(each["type"] == "const char*" for each in members(one.struct))
            else ""
        )
        about = [*about, f"{one.struct['name']} documents the members.{borrows}"]
    about += [f"Errors: {' '.join(errors)}"] if errors else []
    yield from cpp.doc(about)
    if one.shape == "set":
        given = ", ".join(f"{each['type']} {each['name']}" for each in one.parameters)
        names = "".join(f", {each['name']}" for each in one.parameters)
        yield from function(f"Result<void> try_{one.name}({given})", f"return called({one.c_name}, handle(){names});")
        yield from function(f"void {one.name}({given})", f"try_{one.name}({names[2:]}).value();")
        return
    struct = one.struct["name"]
    kind = struct if one.shape == "record" else f"std::vector<{struct}>"
    calls = one.c_name if one.shape == "record" else f"{one.count['name']}, {one.c_name}"
    made = "filled" if one.shape == "record" else "listed"
    yield from function(f"Result<{kind}> try_{one.name}() const", f"return {made}<{struct}>({calls}, handle());")
    yield from function(f"{kind} {one.name}() const", f"return try_{one.name}().value();")


def mixin(cpp, handle, found):
    name = f"{CLASSES[handle]}Calls"
    yield from [f"// Simple calls of {CLASSES[handle]}.", "template <typename Self>", f"class {name} {{", " public:"]
    for number, one in enumerate(found):
        yield from [*([""] if number else []), *method(cpp, one)]
    yield from ["", " private:"]
    yield f"  {handle}* handle() const noexcept {{ return static_cast<const Self*>(this)->get(); }}"
    yield from ["};", ""]


def calls(api):
    cpp, all_of_them = Cpp(api), methods(api)
    lines = [
        "// Calls of Dataset, Loader and others that are one call of dataline.h: f() throws, try_f() returns a Result.",
        f"// {HEAD}",
        "// SPDX-License-Identifier: Apache-2.0",
        "#pragma once",
        "",
        "#include <dataline/filled.hpp>",
        "",
        "#include <cstdint>",
        "#include <vector>",
        "",
        "namespace dataline {",
        "inline namespace DATALINE_CPP_ABI {",
        "namespace detail {",
        "",
    ]
    for handle in CLASSES:
        found = [one for one in all_of_them if one.handle == handle]
        lines += mixin(cpp, handle, found) if found else []
    return [*lines, "}  // namespace detail", "}  // namespace DATALINE_CPP_ABI", "}  // namespace dataline"]


def files(api):
    return {FILE: calls(api)}
