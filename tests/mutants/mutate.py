#!/usr/bin/env python3
"""Writes mutants into a copy of the sources: every one a small change that a test should notice, all in one build.

    mutate.py ROOT TREE [--count room=N ...] [--seed S]

ROOT is read, TREE (a copy of it, configured, with compile_commands.json in build/release) is written: a place
`a < b` that mutant 17 changes becomes `(on(17) ? a <= b : a < b)`. TREE/mutants.json lists them.

Which mutants are taken is decided by a hash of the seed and of what the mutant is (file, function, line of text,
change), so that the list stays nearly the same while other lines are edited.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import bisect
import collections
import hashlib
import json
import pathlib
import re
import shlex
import sys

import clang.cindex as clang
from clang.cindex import CursorKind as K, TypeKind as T  # PyPI: libclang

HERE = pathlib.Path(__file__).resolve().parent
ROOMS = {"loader": 140, "order": 50, "batch": 30, "source": 45, "transform": 35, "memory": 30}
# Vector code is compiled for many targets out of one text, and compared with plain code in its tests.
LEFT_OUT_FILES = re.compile(r"simd|kernels_plain")
# How likely an operator is to be taken: what people get wrong, and tests miss, comes first.
WEIGHTS = {"boundary": 3, "delete": 3, "minmax": 3, "arithmetic": 2, "logic": 2, "bool": 2, "assign": 2, "constant": 1.5,
           "negate": 1.5, "return": 1.5, "equality": 1, "literal": 1, "step": 1}
BOUNDARY = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"]}
EQUALITY = {"==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["+"], "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"],
              ">>": ["<<"]}
LOGIC = {"&&": "||", "||": "&&"}
NUMBERS = {T.BOOL, T.CHAR_U, T.UCHAR, T.USHORT, T.UINT, T.ULONG, T.ULONGLONG, T.CHAR_S, T.SCHAR, T.SHORT, T.INT, T.LONG,
           T.LONGLONG, T.FLOAT, T.DOUBLE}
FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION}
STATEMENTS = {K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR, K.UNEXPOSED_EXPR,
              K.CONTINUE_STMT, K.BREAK_STMT}
BODIES = {K.IF_STMT, K.FOR_STMT, K.WHILE_STMT, K.CXX_FOR_RANGE_STMT}


def number(cursor):
    return cursor.type.get_canonical().kind in NUMBERS


class File:
    """A source file, its text, and the mutants found in it."""

    def __init__(self, root, path):
        self.path = path
        self.name = str(path.relative_to(root))
        self.bytes = path.read_bytes()
        self.starts = [0] + [m.end() for m in re.finditer(b"\n", self.bytes)]
        self.found = {}  # (start, end, operator, after) -> mutant
        self.walked = False
        self.macros = []
        self.macros = list(self.find_macros())  # ranges of text that a macro takes

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def line(self, offset):
        return bisect.bisect_right(self.starts, offset)

    def find_macros(self):
        """By their look, NAMES in capitals: libclang would tell, at ten times the cost."""
        for match in re.finditer(rb"(?m)\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|^#.*$", self.bytes):
            end = match.end()
            if self.bytes[end:end + 1] == b"(":
                depth = 0
                while True:
                    depth += {b"(": 1, b")": -1}.get(self.bytes[end:end + 1], 0)
                    end += 1
                    if depth == 0:
                        break
            yield match.start(), end
            # DL_RETURN_IF_ERROR(f()); is a statement, and may be missing.
            if match.group() == b"DL_RETURN_IF_ERROR" and self.bytes[end:end + 1] == b";":
                self.add("delete", "", match.start(), end + 1, "", statement=True, touches=(0, 0))

    def line_text(self, line):
        end = self.starts[line] if line < len(self.starts) else len(self.bytes)
        return self.bytes[self.starts[line - 1]:end].decode().strip()

    def in_macro(self, start, end):  # of a few dozen
        return any(s < end and start < e for s, e in self.macros)

    def add(self, operator, function, start, end, after, statement=False, touches=None):
        if self.in_macro(*(touches or (start, end))):
            return
        line = self.line(start)
        self.found.setdefault((start, end, operator, after), {
            "file": self.name, "line": line, "function": function, "operator": operator,
            "before": " ".join(self.text(start, end).split()), "after": " ".join(after.split()),
            "text": self.line_text(line), "start": start, "end": end, "replacement": after, "statement": statement})


class Finder:
    def __init__(self, root, room):
        self.root, self.room = root, room
        self.files = {}

    def file_of(self, cursor):
        place = cursor.location.file
        if place is None:
            return None
        name = place.name
        if name not in self.files:
            path = pathlib.Path(name)
            inside = self.room in path.parents and not LEFT_OUT_FILES.search(path.name)
            self.files[name] = File(self.root, path) if inside else None
        return self.files[name]

    def parse(self, index, path, arguments):
        unit = index.parse(str(path), args=arguments)
        broken = [d for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
        if broken:
            raise SystemExit(f"{path}: {broken[0]}")
        children = list(unit.cursor.get_children())
        walked = set()
        for cursor in children:
            file = self.file_of(cursor)
            if file is not None and not file.walked:
                walked.add(file)
                self.walk(cursor, None, [], "")
        for file in walked:
            file.walked = True  # a header is looked at once

    def walk(self, cursor, parent, above, function):
        kind = cursor.kind
        if kind in (K.FUNCTION_TEMPLATE, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, K.STATIC_ASSERT,
                    K.PARM_DECL, K.ENUM_DECL, K.TYPE_ALIAS_DECL):
            return
        if kind in (K.CXX_UNARY_EXPR,):  # sizeof and its like
            return
        if kind in FUNCTIONS:
            if not cursor.is_definition():
                return
            function = cursor.spelling
        file = self.file_of(cursor)
        if kind in FUNCTIONS and file is not None and \
                re.match(r"(static |inline )*constexpr\b", file.text(cursor.extent.start.offset, cursor.extent.end.offset)):
            return
        if file is None and kind != K.NAMESPACE:
            return
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if kind == K.VAR_DECL and re.match(r"(static |inline )*constexpr\b", file.text(start, end)):
            return
        children = list(cursor.get_children())
        if function:
            self.look(file, cursor, children, parent, above, function, start, end)
        for at, child in enumerate(children):
            if kind == K.CASE_STMT and at == 0:
                continue
            self.walk(child, cursor, above + [kind], function)

    def look(self, file, cursor, children, parent, above, function, start, end):
        kind = cursor.kind

        def add(operator, after, **more):
            file.add(operator, function, start, end, after, **more)

        if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            left, right = children
            middle = (left.extent.end.offset, right.extent.start.offset)
            sign = file.text(*middle).strip()
            a, b = file.text(start, middle[0]), file.text(middle[1], end)
            if sign in BOUNDARY and number(left) and number(right):
                for other in BOUNDARY[sign]:
                    add("boundary", f"{a} {other} {b}")
            elif sign in EQUALITY:
                for other in EQUALITY[sign]:
                    add("equality", f"{a} {other} {b}")
            elif sign in ARITHMETIC and number(cursor) and number(left) and number(right):
                for other in ARITHMETIC[sign]:
                    add("arithmetic", f"({a}) {other} ({b})")
            elif sign in LOGIC:
                add("logic", f"({a}) {LOGIC[sign]} ({b})")
                add("logic", f"static_cast<bool>({a})")
                add("logic", f"static_cast<bool>({b})")
            elif sign in ("+=", "-=") and number(cursor) and number(right):
                add("assign", f"{a} {'-=' if sign == '+=' else '+='} {b}")
        elif kind == K.UNARY_OPERATOR and len(children) == 1 and number(children[0]):
            text = file.text(start, end)
            if text.startswith("++"):
                add("step", "--" + text[2:])
            elif text.startswith("--"):
                add("step", "++" + text[2:])
            elif text.startswith("-") and not text[1:].strip().isdigit():
                add("arithmetic", text[1:])
        elif kind == K.INTEGER_LITERAL:
            text = file.text(start, end)
            around = file.text(max(start - 1, 0), start) + file.text(end, end + 1)
            if re.fullmatch(r"[0-9]+", text) and around not in ("<>",) and "<" != around[0] and parent.kind != K.FIELD_DECL \
                    and not self.is_size(file, parent, start):
                add("literal", f"{text} + 1")
                if text != "0":
                    add("literal", f"{text} - 1")
        elif kind == K.CXX_BOOL_LITERAL_EXPR and parent.kind != K.FIELD_DECL:
            add("bool", "false" if file.text(start, end) == "true" else "true")
        elif kind == K.DECL_REF_EXPR and number(cursor) and re.fullmatch(r"k[A-Z]\w*", file.text(start, end)):
            text = file.text(start, end)
            named = cursor.referenced
            if named is not None and named.kind == K.VAR_DECL and not self.is_size(file, parent, start) and cursor.type.get_canonical().kind != T.BOOL:
                add("constant", f"{text} + 1")
                add("constant", f"{text} - 1")
        elif kind == K.CALL_EXPR:
            text = file.text(start, end)
            for one, other in (("std::min", "std::max"), ("std::max", "std::min")):
                if text.startswith((one + "(", one + "<")):
                    add("minmax", other + text[len(one):])
        elif kind == K.RETURN_STMT and children:
            value = children[0]
            at = (value.extent.start.offset, value.extent.end.offset)
            text = file.text(*at)
            canonical = value.type.get_canonical().kind
            if canonical == T.BOOL and text not in ("true", "false"):
                file.add("return", function, *at, f"!({text})")
            elif canonical in NUMBERS and canonical != T.BOOL and not re.fullmatch(r"[0-9]+", text):
                file.add("return", function, *at, f"({text}) + 1")

        if kind in (K.IF_STMT, K.WHILE_STMT, K.CONDITIONAL_OPERATOR):
            head = file.text(start, start + 14)
            condition = next((c for c in children if c.kind.is_expression()), None)
            if condition is not None and not re.match(r"if\s+constexpr", head):
                at = (condition.extent.start.offset, condition.extent.end.offset)
                text = file.text(*at)
                if not any(d.kind == K.VAR_DECL for d in children) and condition.kind != K.BINARY_OPERATOR or \
                        condition.kind == K.BINARY_OPERATOR and not re.search(r"==|!=|&&|\|\|", text):
                    file.add("negate", function, *at, f"!({text})")

        in_body = parent is not None and (parent.kind == K.COMPOUND_STMT or parent.kind in BODIES and
                                          list(parent.get_children())[-1] == cursor)
        if in_body and (kind in STATEMENTS or kind == K.RETURN_STMT and self.guards(parent, above)):
            tail = re.match(rb"\s*;", file.bytes[end:end + 8])
            if tail:
                file.add("delete", function, start, end + tail.end(), "", statement=True)

    @staticmethod
    def guards(parent, above):
        """Whether a return is in the branch of an if: without it the function goes on."""
        return parent.kind == K.IF_STMT or len(above) > 1 and above[-2] == K.IF_STMT and above.count(K.SWITCH_STMT) == 0

    @staticmethod
    def is_size(file, parent, start):
        """The literal in `std::array<int, 4> name` or `char name[4]`."""
        if parent.kind != K.VAR_DECL:
            return False
        declared = file.text(parent.extent.start.offset, start)
        return not re.search(r"[={(]", declared)


def key_of(mutant):
    return " | ".join((mutant["file"], mutant["function"], mutant["text"], mutant["operator"],
                       f"{mutant['before']} -> {mutant['after'] or 'nothing'}"))


def priority(seed, mutant):
    """Small comes first: a hash in (0, 1] to the power of 1 / weight, upside down."""
    digest = hashlib.sha256(f"{seed} {mutant['key']}".encode()).digest()
    part = (int.from_bytes(digest[:7], "big") + 1) / float(1 << 56)
    return -(part ** (1.0 / WEIGHTS[mutant["operator"]]))


def read_left_out(path):
    """`file function  reason` -> {(file, function): reason}; function `*` is all of them."""
    out = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            file, function, reason = line.split(None, 2)
            out[file, function] = reason
    return out


def render(file, sites, start, end, header):
    """The text from start to end with the sites in it replaced; sites are nested or apart."""
    out, at = [], start
    while sites:
        first = min(sites, key=lambda s: (s[0], -s[1]))
        inner = [s for s in sites if s is not first and s[0] >= first[0] and s[1] <= first[1]]
        sites = [s for s in sites if s is not first and s not in inner]
        out.append(file.text(at, first[0]))
        body = render(file, inner, first[0], first[1], header)
        if first[2][0]["statement"]:
            out.append(f"{{ if (!::dataline_mutants::on({first[2][0]['id']})) {{ {body} }} }}")
        else:
            chain = "".join(f"::dataline_mutants::on({m['id']}) ? ({m['replacement']}) : " for m in first[2])
            if any(m["operator"] in ("negate", "logic") for m in first[2]):
                body = f"static_cast<bool>({body})"
            out.append(f"({chain}({body}))")
        at = first[1]
    out.append(file.text(at, end))
    return "".join(out)


def write(file, mutants, target):
    places = collections.defaultdict(list)
    for mutant in mutants:
        places[mutant["start"], mutant["end"], mutant["statement"]].append(mutant)
    sites = [(start, end, found) for (start, end, _), found in places.items()]
    text = render(file, sites, 0, len(file.bytes), "")
    if mutants:  # before the first include, on its line: line numbers stay
        text = text.replace("#include", '#include "tests/mutants/mutant.h"\n#line %d\n#include' %
                            (file.bytes[:file.bytes.index(b"#include")].count(b"\n") + 1), 1) if b"#include" in file.bytes \
            else text.replace("#pragma once", '#pragma once\n#include "tests/mutants/mutant.h"\n#line 4\n', 1)
        if file.name.endswith(".h"):
            text = "#pragma GCC system_header  // no warnings\n#line 1\n" + text
    if target.read_text() != text:
        target.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", action="append", default=[])
    parser.add_argument("--without", type=pathlib.Path, help="keys of mutants that do not compile")
    arguments = parser.parse_args()
    counts = dict(ROOMS)
    if arguments.count:
        counts = {room: int(count) for room, count in (c.split("=") for c in arguments.count)}
    root, tree = arguments.root.resolve(), arguments.tree.resolve()
    library = pathlib.Path("/usr/lib/llvm-14/lib/libclang-14.so.1")
    if library.exists():  # it knows where its own headers are
        clang.Config.set_library_file(str(library))
    index = clang.Index.create()
    commands = {c["file"]: c["command"] for c in json.loads((tree / "build/release/compile_commands.json").read_text())}
    left_out = read_left_out(HERE / "left_out.txt")
    without = set(arguments.without.read_text().splitlines()) if arguments.without and arguments.without.exists() else set()

    taken, every, spared, written = [], 0, 0, []
    for room, count in counts.items():
        finder = Finder(root, root / "core" / room)
        sources = sorted(p for p in (root / "core" / room).rglob("*.cpp") if not LEFT_OUT_FILES.search(p.name))
        for source in sources:
            command = commands.get(str(tree / source.relative_to(root)))
            if command is None:
                continue  # not of this build
            flags = [a.replace(str(tree), str(root)) for a in shlex.split(command)
                     if a.startswith(("-I", "-D", "-std", "-isystem")) or a.startswith("/") and "include" in a]
            finder.parse(index, source, flags)
        found = []
        seen = collections.Counter()
        for file in finder.files.values():
            for mutant in sorted(file.found.values(), key=lambda m: (m["start"], m["end"], m["after"])) if file else []:
                mutant["room"] = room
                mutant["key"] = key_of(mutant)
                seen[mutant["key"]] += 1
                if seen[mutant["key"]] > 1:
                    mutant["key"] += f" | {seen[mutant['key']]}"
                if (mutant["file"], mutant["function"]) in left_out or (mutant["file"], "*") in left_out:
                    spared += 1
                elif mutant["key"] not in without:
                    found.append(mutant)
        every += len(found)
        found.sort(key=lambda m: priority(arguments.seed, m))
        for mutant in found[:count]:
            mutant["id"] = len(taken) + 1
            taken.append(mutant)
        print(f"{room}: {min(count, len(found))} of {len(found)} mutants")
        for path, file in finder.files.items():
            if file is not None:
                write(file, [m for m in found[:count] if m["file"] == file.name], tree / file.name)
                written.append(file.name)
    for mutant in taken:
        del mutant["replacement"]
    (tree / "changed.txt").write_text("".join(name + "\n" for name in sorted({m["file"] for m in taken})))
    (tree / "mutated.txt").write_text("\n".join(sorted(set(written))))  # the copy's own from now on
    (tree / "mutants.json").write_text(json.dumps({"found": every, "left_out": spared, "mutants": taken}, indent=1))
    print(f"{len(taken)} mutants taken of {every} found; {spared} in functions that left_out.txt names")


if __name__ == "__main__":
    sys.exit(main())
