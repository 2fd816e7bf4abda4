"""The tables of the library.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Optional

from . import _core

__all__ = [
    "FormatInfo",
    "FormatKey",
    "OptionInfo",
    "StorageInfo",
    "TransformArgument",
    "TransformInfo",
    "build_info",
    "format_table",
    "option_table",
    "storage_table",
    "transform_table",
]


class OptionInfo(NamedTuple):
    """An option, which is a keyword argument of ``open`` and ``Loader``."""

    key: str
    type: str
    """``bool int size word text indices weights``; a size is in bytes."""
    default: str
    """The default as text; ``""``: none."""
    choices: tuple[str, ...]
    minimum: Optional[int]
    maximum: Optional[int]
    unit: str
    scope: str
    """``dataset``, ``loader`` or ``both``."""
    doc: str
    since: str


class TransformArgument(NamedTuple):
    """An argument of an operator."""

    name: str
    type: str
    default: str = ""
    """``""``: required."""


class TransformInfo(NamedTuple):
    """An operator of the ``transform`` option."""

    name: str
    arguments: tuple[TransformArgument, ...]
    doc: str
    source: str
    """The definition that it follows."""
    since: str


@cache
def option_table() -> tuple[OptionInfo, ...]:
    """All options."""
    return tuple(map(_option, _core.option_table()))


def _option(found: dict[str, Any]) -> OptionInfo:
    found["default"] = found.pop("default_value")
    found["choices"] = tuple(filter(None, found["choices"].split("|")))
    found["scope"] = ("", "dataset", "loader", "both")[found["scope"]]
    if not found.pop("has_range"):
        found["minimum"] = found["maximum"] = None
    return OptionInfo(**found)


def transform_table(extensions: Optional[_core.Extensions] = None) -> tuple[TransformInfo, ...]:
    """All operators of the ``transform`` option: those of the library, then those of ``extensions``."""
    return tuple(
        TransformInfo(name, tuple(TransformArgument(*argument) for argument in arguments), *others)
        for name, arguments, *others in _core.transform_table(extensions)
    )


class FormatKey(NamedTuple):
    """A key of a format's URIs."""

    name: str
    values: str
    """Allowed words, ``error|ignore`` (others are rejected), or the kind of value, ``INTEGER``."""
    default: Optional[str] = None
    doc: str = ""


class FormatInfo(NamedTuple):
    """A format, which is a scheme of URIs."""

    name: str
    keys: tuple[FormatKey, ...]
    doc: str


class StorageInfo(NamedTuple):
    """A storage, whose paths start with ``scheme://``."""

    scheme: str
    doc: str


def format_table(extensions: Optional[_core.Extensions] = None) -> tuple[FormatInfo, ...]:
    """All formats: those of the library, then those of ``extensions``."""
    return tuple(
        FormatInfo(name, tuple(FormatKey(*key) for key in keys), doc)
        for name, keys, doc in _core.format_table(extensions)
    )


def storage_table(extensions: Optional[_core.Extensions] = None) -> tuple[StorageInfo, ...]:
    """The storages of ``extensions``."""
    return tuple(StorageInfo(*row) for row in _core.storage_table(extensions))


@cache
def options_help() -> str:
    """The table as text, for the help of programs with options."""
    lines = []
    for option in option_table():
        words = " | ".join(option.choices) or option.type
        default = f" = {option.default}" if option.default else ""
        lines.append(f"    {option.key}: {words}{default}\n        {option.doc}")
    return "\n".join(lines)


def build_info() -> str:
    """The optional parts of the build, and the compiler: ``"highway mimalloc; gcc 12.2.0"``.

    If parts are missing, ``; missing: `` follows, with the parts and what each costs.
    """
    return _core.library_version()[2]
