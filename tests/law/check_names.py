"""One name of the library's namespace is one thing: a class, an enumeration, an alias or an inline function that is
defined twice under the same name is undefined behaviour (the one-definition rule) as soon as both are linked, and no
compiler or linker says so. Read from the source, which clang-format keeps in one shape.

Looked at: what core/ and capi/ define at namespace scope, against each other and against all other folders, whose
programs link them. Not: anonymous namespaces, members of classes, functions that are not inline (the linker compares
those), and what a file in another language or a macro makes.

Files of tests are compiled many at a time (dataline_tests), so that each has a namespace of its own, named as the file is.

  check_names.py ROOT
  check_names.py --self-test

SPDX-License-Identifier: Apache-2.0
"""

import collections
import re
import sys

import tree

LINKED = ("core", "capi")  # what every program of the tree may hold

TYPE = re.compile(r"(?:template\s*<[^{;]*>\s*)?(?:requires\s[^{;]*?\s)?"
                  r"(?:enum\s+class|enum\s+struct|enum|struct|class|union)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*"
                  r"([A-Za-z_]\w*)(?:\s+final)?\s*(?::(?!:)[^;{]*)?$")
ALIAS = re.compile(r"using\s+([A-Za-z_]\w*)\s*=")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace(?:\s+([A-Za-z_][\w:]*))?$")
FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)[^()]*$")
INLINE = re.compile(r"\b(?:inline|constexpr|consteval|template)\b")


def plain(text):
    """The text without comments, literals, preprocessor lines and attributes' contents, its lines kept."""
    def blank(match):
        return "\n" * match.group(0).count("\n") or " "
    text = re.sub(r'R"([^(\s]*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])\'(?:[^\'\\\n]|\\.)+\'',
                  blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def parameters(text):
    """A parameter list without names and defaults: what tells overloads apart."""
    types = []
    for parameter in re.split(r",(?![^<(]*[>)])", text):
        words = re.sub(r"=.*", "", parameter, flags=re.S).split()
        if len(words) > 1 and re.fullmatch(r"[A-Za-z_]\w*", words[-1]):
            words.pop()
        types.append("".join(words))
    return ",".join(types)


def definitions(text):
    """(qualified name, line) of what is defined at namespace scope outside anonymous namespaces."""
    scopes = []  # a namespace's name; "" for an anonymous one; None for any other braces
    statement, line = "", 1

    def name_of(name):
        return "::".join([*scopes, name]) if all(scopes) else None

    for token in re.finditer(r"[{};]|\n|[^{};\n]+", plain(text)):
        piece = token.group(0)
        if piece == "\n":
            line += 1
            statement += " "
            continue
        if piece == ";":
            alias = ALIAS.match(statement.strip())
            if None not in scopes and alias and name_of(alias.group(1)):
                yield name_of(alias.group(1)), line
            statement = ""
        elif piece == "{":
            head = " ".join(statement.split())
            statement = ""
            namespace = NAMESPACE.fullmatch(head)
            if head.startswith('extern') and "(" not in head:
                scopes.append(None)
            elif namespace and None not in scopes:
                scopes.append(namespace.group(1) or "")
            else:
                if None not in scopes:
                    yield from defined_by(head, name_of, line)
                scopes.append(None)
        elif piece == "}":
            if scopes:
                scopes.pop()
            if None not in scopes:
                statement = ""
        else:
            statement += piece


def defined_by(head, name_of, line):
    kind, function = TYPE.match(head), FUNCTION.search(head)
    if kind and name_of(kind.group(1)):
        yield name_of(kind.group(1)), line
    elif function and INLINE.search(head) and "<" not in function.group(1) and "::" not in head[:function.start(2)].split()[-1]:
        name = name_of(f"{function.group(1)}({parameters(function.group(2))})")
        constraint = re.search(r"requires\s+(.*?)\s+[\w:<>*&]+\s+" + re.escape(function.group(1)), head)
        if name:
            yield name + (f" requires {constraint.group(1)}" if constraint else ""), line


def not_its_own(path, lines):
    """What a file of tests puts into other namespaces than its own."""
    opened = [(number, name) for number, line in enumerate(lines, 1) for name in re.findall(r"^(?:inline )?namespace ([\w:]+) \{", line)]
    if not opened:
        yield f"{path}:1 has no namespace {path.stem} for its tests"
    for number, name in opened:
        if name.split("::")[-1] != path.stem:
            yield f"{path}:{number} opens the namespace {name}, not one of its own, ...::{path.stem}"


def check(root):
    places = collections.defaultdict(dict)
    found = []
    for path in tree.files(root, {".h", ".hpp", ".cpp"}):
        lines = tree.lines(root, path)
        for name, line in definitions("\n".join(lines)):
            places[name].setdefault(path, line)
        if path.parts[0] == "tests" and path.name.endswith("_test.cpp"):
            found += not_its_own(path, lines)
    for name, files in sorted(places.items()):
        if len(files) > 1 and any(path.parts[0] in LINKED for path in files):
            found.append(f"{name} is defined in " + " and ".join(f"{path}:{line}" for path, line in sorted(files.items())))
    return found


def pair(first, second, where="core/b.h"):
    return {"core/a.h": f"namespace dataline {{\n{first}\n}}\n", where: f"namespace dataline {{\n{second}\n}}\n"}


SELF_TEST = [
    ("one of each", pair("struct A {};", "class B {};"), 0),
    ("two types", pair("struct Rgb { int r; };", "struct Rgb { float r; };"), 1),
    ("a type and an enumeration", pair("class Pass {};", "enum class Pass : int { kOne };"), 1),
    ("final and a base", pair("class Pass final : public Base {};", "struct Pass {};"), 1),
    ("two aliases", pair("using Rows = int;", "using Rows = long;"), 1),
    ("two inline functions", pair("inline int twice(int x) { return x * 2; }", "inline int twice(int value) { return value; }"), 1),
    ("overloads", pair("inline int twice(int x) { return x; }", "inline int twice(float x) { return x; }"), 0),
    ("a test's type", pair("struct Pass {};", "struct Pass {};", "tests/x/a.cpp"), 1),
    ("two programs of their own", {"tests/a.cpp": "namespace dataline {\nstruct A {};\n}", "tests/b.cpp": "namespace dataline {\nstruct A {};\n}"}, 0),
    ("another namespace", pair("struct A {};", "namespace inner {\nstruct A {};\n}"), 0),
    ("anonymous ones", pair("namespace {\nstruct A {};\n}", "struct A {};"), 0),
    ("members", pair("struct A {\n  struct Inside {};\n};", "struct B {\n  struct Inside {};\n};"), 0),
    ("a declaration", pair("struct A {};", "struct A;\nclass C {};"), 0),
    ("in a comment", pair("struct A {};", "// struct A {\n/* struct A { } */"), 0),
    ("in a text", pair("struct A {};", 'inline const char* text() { return "struct A {"; }'), 0),
    ("a member defined outside", pair("class A { struct Inside; };", "struct A::Inside { int i; };"), 0),
    ("a specialisation", pair("template <class T>\nstruct A {};", "template <>\nstruct A<int> {};"), 0),
    ("a test in its own namespace", {"tests/a_test.cpp": "namespace dataline::a_test {\nTEST(A, B) {}\n}"}, 0),
    ("a test in the library's", {"tests/a_test.cpp": "namespace dataline {\nTEST(A, B) {}\n}"}, 1),
    ("a test in none", {"tests/a_test.cpp": "namespace {\nTEST(A, B) {}\n}"}, 1),
    ("nested names", {"core/a.h": "namespace dataline::capi {\nstruct A {};\n}", "core/b.h": "namespace dataline {\nnamespace capi {\nstruct A {};\n}\n}"}, 1),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(check, SELF_TEST)
    tree.report(check(sys.argv[1]), "names")
