"""Documentation of the header in the words of a language: its names become names of the language.

SPDX-License-Identifier: Apache-2.0
"""

import re

from methods import CLASSES, kind_of, name_of
from words import camel, outside_code

NAME = re.compile(r"\b((?:dl|DL)_\w*[A-Za-z0-9])\b(?:\.([a-z_]+)\b)?")
SINCE = re.compile(r"(^|\s+)Since \d+\.\d+\.?(?=\s|$)")


class Speaker:
    """How a language writes names and text. A language overrides what it does otherwise than C++."""

    def __init__(self, api):
        self.members = {one["name"]: {each["name"]: each for each in one["members"]} for one in api["structs"]}
        self.handles = {one["name"]: self.owner_of(one["name"]) for one in api["functions"]}
        self.codes = {one["name"] for one in api["status_codes"]}

    @staticmethod
    def owner_of(function):
        """The handle that a function's name starts with, or None."""
        return next((handle for handle in CLASSES if function.startswith(f"{handle}_")), None)

    NONE = "-1"  # a number that is absent

    def code(self, name):
        return name

    def constant(self, name):
        return name

    def value(self, struct):
        """A struct of the header, as a type."""
        return struct

    def member(self, struct, member):
        return f"{struct}.{member}"

    def function(self, handle, name):
        return f"{CLASSES[handle]}::{name}"

    def other(self, name):
        return name

    def named(self, found):
        """One name of the header, with the member that follows it."""
        name, member = found[1], found[2]
        if name in self.codes:
            text = self.code(name)
        elif name.startswith("DL_"):
            text = self.constant(name)
        elif member in self.members.get(name, {}):
            return self.member(name, member)
        elif name in self.members:
            text = self.value(name)
        elif self.handles.get(name):
            text = self.function(self.handles[name], name_of(name, self.handles[name]))
        else:
            text = self.other(name)
        return f"{text}.{member}" if member else text

    def text(self, paragraph):
        return outside_code(paragraph, lambda part: NAME.sub(self.named, part))

    def about(self, paragraphs):
        """Paragraphs without the release that they are as old as."""
        texts = [SINCE.sub("", one).strip() for one in paragraphs]
        return [text for text in texts if text]

    def member_doc(self, member):
        """The comment of a member without what its type in the language states: which constants, or 1 for true."""
        text = " ".join(self.about(member.get("doc", [])))
        kind = kind_of(member)
        if kind == "flag":
            text = text.removeprefix("1: ")
        if kind == "choice":
            text = re.sub(r"^DL_\w+_\*(: )?", "", text)
        if kind == "maybe":
            text = re.sub(r"(^|; )-1: ", rf"\1{self.NONE}: ", text)
        if kind == "text":  # languages copy texts, and have no NULL
            text = re.sub(r"(; )?borrowed from [^;]*|; loader: NULL", "", text)
            text = re.sub(r" Borrowed from [^.]*\.", "", text)
        if not text:
            raise ValueError(f"member {member['name']}: what methods return needs a comment in the header")
        return text.rstrip(".") if text[0].islower() else text


def sentence(text):
    """A fragment as a sentence. It keeps a name at its start as it is."""
    text = text if re.match(r"\w*[_=(.`]", text) else text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def lowered(text):
    """A sentence to follow the name of what it describes."""
    word = text.split(" ", 1)[0]
    return text if word.isupper() and len(word) > 1 else text[:1].lower() + text[1:]


def camel_code(name, prefix):
    """DL_ERR_NOT_A_FILE -> NotAFile; DL_TUNE_ON -> On"""
    return camel(name.removeprefix(prefix).lower())
