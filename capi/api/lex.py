"""A C header as the compiler sees it, with its comments: tokens, constants and where each stands.

Only what is in force for a C compiler that has __GNUC__ is seen: the parts for C++ and for Windows declare nothing of
their own.

SPDX-License-Identifier: Apache-2.0
"""

import re
from dataclasses import dataclass

# What a condition of the header may ask for and finds defined. All else counts as not defined, until a #define.
DEFINED = {"__GNUC__"}

TOKEN = re.compile(
    r"(?P<space>[ \t\r]+)|(?P<newline>\n)|(?P<comment>/\*.*?\*/)|(?P<line_comment>//[^\n]*)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)|(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<punct>[-(){}\[\];,*=<>.&+|!:?~/%^])",
    re.DOTALL,
)


class HeaderError(Exception):
    """Something in the header that the description cannot say, or that the rules forbid."""

    def __init__(self, line, message):
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


@dataclass(frozen=True)
class Token:
    kind: str  # word, number, string, punct, comment, define, part
    text: str
    line: int  # of its first character
    end: int  # of its last
    alone: bool = False  # a comment: nothing stands before it on its line


class Conditions:
    """The nesting of #if and its kin."""

    def __init__(self):
        self.defined = set(DEFINED)
        self.stack = []  # [active now, some branch was active, name asked for by #ifndef]

    def active(self):
        return all(level[0] for level in self.stack)

    def holds(self, condition, line):
        text = re.sub(
            r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)",
            lambda found: str((found[1] or found[2]) in self.defined),
            condition,
        )
        text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
        if not re.fullmatch(r"(?:True|False|and|or|not|[\s()0-9])+", text):
            raise HeaderError(line, f"expected a condition of defined(NAME), &&, || and !, got '{condition}'")
        return bool(eval(text, {"__builtins__": {}}))  # made of the words above alone

    def take(self, word, rest, line):
        """Follows one directive; true if it was one of these."""
        if word in ("ifdef", "ifndef"):
            holds = (rest in self.defined) == (word == "ifdef")
            self.stack.append([holds, holds, rest if word == "ifndef" else None])
        elif word == "if":
            holds = self.holds(rest, line)
            self.stack.append([holds, holds, None])
        elif word in ("elif", "else", "endif"):
            if not self.stack:
                raise HeaderError(line, f"#{word} without an #if")
            level = self.stack[-1]
            if word == "endif":
                self.stack.pop()
            else:
                level[0] = not level[1] and (word == "else" or self.holds(rest, line))
                level[1] = level[1] or level[0]
        else:
            return False
        return True

    def inside(self, name):
        """Within #ifndef NAME."""
        return any(level[2] == name for level in self.stack)


def directive(text, at):
    """The end of the directive that starts at `at`: at its comment, or at the end of its last line."""
    while True:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        comment = text.find("/*", at, end)
        if comment >= 0:
            return comment
        if text[end - 1] != "\\":
            return end
        at = end + 1


def tokens(text):
    """Tokens in force, comments among them. A #define is one token, "NAME value"; a `part` token marks where the part
    after #ifndef DL_STABLE_ONLY begins ("unstable") or ends ("")."""
    conditions, found, at, line, at_start = Conditions(), [], 0, 1, True
    while at < len(text):
        if text[at] == "#" and at_start:
            end = directive(text, at)
            content = re.sub(r"\s+", " ", text[at + 1 : end].replace("\\\n", " ")).strip()
            word, _, rest = content.partition(" ")
            was = conditions.inside("DL_STABLE_ONLY")
            active = conditions.active()
            if not conditions.take(word, rest, line) and active:
                if word == "define":
                    conditions.defined.add(re.match(r"\w*", rest)[0])
                    found.append(Token("define", rest, line, line + text.count("\n", at, end)))
                elif word not in ("include", "pragma", "undef"):
                    raise HeaderError(line, f"#{word} is not understood")
            inside = conditions.inside("DL_STABLE_ONLY")
            if inside != was:
                found.append(Token("part", "unstable" if inside else "", line, line))
            line += text.count("\n", at, end)
            at, at_start = end, False
            continue
        match = TOKEN.match(text, at)
        if not match:
            raise HeaderError(line, f"'{text[at : at + 20].splitlines()[0]}' is not understood")
        kind = match.lastgroup
        end = line + match[0].count("\n")
        if kind == "line_comment":
            raise HeaderError(line, "a // comment: C90 hosts include this header, write /* */")
        if kind not in ("space", "newline") and conditions.active():
            found.append(Token(kind, match[0], line, end, kind == "comment" and at_start))
        at_start = kind == "newline" or (at_start and kind == "space")
        at, line = match.end(), end
    if conditions.stack:
        raise HeaderError(line, "an #if has no #endif")
    return found
