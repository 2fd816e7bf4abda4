"""The declarations of the header, each with its place and the comments that belong to it.

Strict: what is not one of the forms below is an error with its line, never passed over.

  #define NAME number | attributes | { ... }        typedef scalar dl_name;
  typedef struct dl_name dl_name;                   typedef type (*dl_name)(parameters);
  typedef struct dl_name { members } dl_name;       struct Foreign;
  struct dl_name { members };                       DL_API [DL_UNSTABLE] [DL_MUST_CHECK] type dl_name(parameters);
  static inline type dl_name(parameters) { body }

A comment on the line where a declaration ends, or directly above it, is its own; of a struct that is declared ahead it may
be there. One above several adjacent declarations belongs to each that it names. Other comments, with an empty line below,
belong to the section.

SPDX-License-Identifier: Apache-2.0
"""

import re
from dataclasses import dataclass, field

import comments
from ctypes_of import SCALARS, spelled
from lex import HeaderError, tokens

MARKERS = {"DL_API", "DL_MUST_CHECK", "DL_UNSTABLE"}


@dataclass
class Declaration:
    kind: str  # constant, marker, initializer, alias, handle, foreign, callback, struct, function, inline
    name: str
    line: int
    end: int
    section: str = ""
    unstable: bool = False
    doc: list = field(default_factory=list)
    run: str = ""  # the title above a run of constants
    value: str = ""
    type: str = ""
    parameters: list = field(default_factory=list)
    members: list = field(default_factory=list)
    markers: set = field(default_factory=set)


@dataclass
class Member:
    name: str
    type: str
    line: int
    end: int
    doc: list = field(default_factory=list)
    callback: Declaration = None  # of a pointer to a function that is declared in place


class Parser:
    def __init__(self, text):
        every = tokens(text)
        self.comments = [token for token in every if token.kind == "comment"]
        self.code = [token for token in every if token.kind != "comment"]
        self.at = 0
        self.numbers = {}  # the constants so far, for the lengths of arrays

    # -- tokens

    def peek(self, ahead=0):
        return self.code[self.at + ahead].text if self.at + ahead < len(self.code) else ""

    def take(self, expected=None, what=None):
        if self.at >= len(self.code):
            raise HeaderError(
                self.code[-1].end if self.code else 1, f"{what or expected} was expected, the header ends"
            )
        token = self.code[self.at]
        if expected is not None and token.text != expected:
            raise HeaderError(token.line, f"'{expected}' was expected, got '{token.text}'")
        self.at += 1
        return token

    def name(self, what):
        token = self.take(what=what)
        if token.kind != "word":
            raise HeaderError(token.line, f"{what} was expected, got '{token.text}'")
        return token.text

    # -- types and parameters

    def type(self):
        words, line = [], self.code[self.at].line if self.at < len(self.code) else 0
        if self.peek() == "const":
            words.append(self.take().text)
        if self.peek() == "struct":
            words.append(self.take().text)
        words.append(self.name("a type"))
        if words[-1] in ("unsigned", "signed", "long", "short", "enum", "union", "bool", "_Bool", "int"):
            hint = "booleans are int32_t, 0 or 1" if words[-1] in ("bool", "_Bool") else f"one of {', '.join(SCALARS)}"
            raise HeaderError(line, f"type '{words[-1]}' is not for this header; {hint}")
        while self.peek() in ("*", "const"):
            words.append(self.take().text)
        return spelled(words)

    def declarator(self, line):
        """A parameter or member: its type and name."""
        if self.peek() in MARKERS:
            raise HeaderError(line, f"{self.peek()} does not belong here")
        type_name = self.type()
        if self.peek() == "(":
            self.take("(")
            self.take("*")
            name = self.name("the callback's name")
            self.take(")")
            callback = Declaration("callback", name, line, line, type=type_name, parameters=self.parameters())
            return Member(name, "", line, line, callback=callback)
        name = self.name("a name")
        if self.peek() == "[":
            self.take("[")
            type_name += f"[{self.length()}]"
            self.take("]")
        return Member(name, type_name, line, line)

    def length(self):
        """The length of an array: a number, or a constant that is defined above."""
        token = self.take(what="a length")
        value = self.numbers.get(token.text, token.text)
        if not value.isdigit():
            raise HeaderError(token.line, f"a number, or a constant defined above, was expected, got '{token.text}'")
        return value

    def parameters(self):
        self.take("(")
        found = []
        if self.peek() == "void" and self.peek(1) == ")":
            self.take()
        elif self.peek() == ")":
            raise HeaderError(self.code[self.at].line, "write (void) for no parameters")
        else:
            found.append(self.declarator(self.code[self.at].line))
            while self.peek() == ",":
                self.take()
                found.append(self.declarator(self.code[self.at].line))
        self.take(")")
        return found

    def members(self):
        self.take("{")
        found = []
        while self.peek() != "}":
            member = self.declarator(self.code[self.at].line)
            if self.peek() == ",":
                raise HeaderError(member.line, f"one member a declaration, after '{member.name}'")
            member.end = self.take(";").line
            found.append(member)
        self.take("}")
        return found

    # -- declarations

    def define(self, token):
        name, _, value = token.text.partition(" ")
        if re.fullmatch(r"\(-\d+\)|\d+u?", value):
            kind = "constant"
            self.numbers[name] = value
        elif value.startswith("{"):
            kind = "initializer"
        elif not value or value.startswith(("__attribute__", "__declspec")):
            kind = "marker"
        else:
            raise HeaderError(
                token.line, f"the value of {name} is not a number such as 1, 1u or (-1), an attribute or {{ }}: '{value}'"
            )
        return Declaration(kind, name, token.line, token.end, value=value)

    def typedef(self, line):
        self.take("typedef")
        if self.peek() == "struct":
            made = self.struct(line, typedef=True)
        else:
            type_name = self.type()
            if self.peek() == "(":
                self.take("(")
                self.take("*")
                made = Declaration("callback", self.name("the callback's name"), line, line, type=type_name)
                self.take(")")
                made.parameters = self.parameters()
            else:
                made = Declaration("alias", self.name("a name"), line, line, type=type_name)
        return made

    def struct(self, line, typedef=False):
        self.take("struct")
        name = self.name("the struct's name")
        made = Declaration("handle" if typedef else "foreign", name, line, line)
        if self.peek() == "{":
            made.kind, made.members = "struct", self.members()
        if typedef:
            again = self.name("the struct's name")
            if again != name:
                raise HeaderError(line, f"struct {name} is called {again}")
        return made

    def function(self, line):
        markers = set()
        while self.peek() in MARKERS:
            markers.add(self.take().text)
        type_name = self.type()
        name = self.name("the function's name")
        return Declaration("function", name, line, line, type=type_name, parameters=self.parameters(), markers=markers)

    def inline(self, line):
        self.take("static")
        self.take("inline")
        made = self.function(line)
        made.kind = "inline"
        self.take("{")
        depth = 1
        while depth:
            token = self.take(what="the end of the function")
            depth += {"{": 1, "}": -1}.get(token.text, 0)
        made.end = self.code[self.at - 1].line
        return made

    def declaration(self):
        token = self.code[self.at]
        if token.kind == "define":
            return self.define(self.take())
        if token.text == "static":
            return self.inline(token.line)
        if token.text == "typedef":
            made = self.typedef(token.line)
        elif token.text == "struct":
            made = self.struct(token.line)
        elif token.text in MARKERS:
            made = self.function(token.line)
        else:
            raise HeaderError(token.line, f"no declaration starts with '{token.text}': a function needs DL_API")
        made.end = self.take(";").line
        return made

    def declarations(self):
        found, unstable = [], False
        while self.at < len(self.code):
            if self.code[self.at].kind == "part":
                unstable = bool(self.take().text)
                continue
            made = self.declaration()
            made.unstable = unstable
            found.append(made)
        return found


def parse(text):
    """(declarations, sections, the first comment's lines)"""
    parser = Parser(text)
    found = parser.declarations()
    sections, head = comments.attach(found, parser.comments)
    return found, sections, comments.lines_of(head.text) if head else []
