"""Keyword arguments as options. Keys, types and limits are the library's.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, Optional

from . import _core
from ._rows import is_boolean, row, short
from .tables import option_table, transform_table

Log = Callable[[str, str], object]


def _text(key: str, value: Any) -> str:
    if is_boolean(value) and getattr(value, "shape", ()) == ():
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, float):
        return float.__repr__(value)
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"{key}: expected text, a number or a boolean, got {type(value).__name__}") from None


def parsed(key: str, value: Any) -> str:
    """A value as the table of options reads it: ``"full"`` for a shuffle of True, ``"8"`` for a batch size of 8.

    Raises CallError as making a Loader does.
    """
    made = _core.Options()
    made.set(key, _text(key, value))
    return made.get(key)


def text_of(key: str, value: Any) -> str:
    """The value of an option of text. Raises TypeError for another one, which says how it is written."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    expected = f"{key}: expected text, got {short(value)}"  # cache=True is no directory
    if isinstance(value, (list, tuple)) and all(isinstance(item, (str, int)) for item in value):
        separator = ", " if all(isinstance(item, str) for item in value) else ","
        raise TypeError(f'{expected}; write one text, "{separator.join(map(str, value))}"')
    if callable(value) or isinstance(value, (list, tuple)):
        raise TypeError(expected + _of_code(value))
    raise TypeError(expected)


def _of_code(value: Any) -> str:
    """What to do with Python code where the name of an operator is expected."""
    steps = list(getattr(value, "transforms", None) or (value if isinstance(value, (list, tuple)) else [value]))
    ours = {info.source.rpartition(".")[2].partition("(")[0]: info.name for info in transform_table()}
    same = [f"{ours[type(step).__name__]}(...)" for step in steps if type(step).__name__ in ours]
    text = ', which is Python code: transform takes text that names operators, as in "decode, resize(256)"'
    if same:
        text += f"; {', '.join(same)} {'is' if len(same) == 1 else 'are'} the same here"
    return text + (
        ". Python code goes into the dataset that makes the samples (__getitem__ of dataline.from_reader's source), or "
        "into an operator of Extensions.add_operator"
    )


def build(
    options: Mapping[str, object],
    cancel_token: Optional[_core.CancelToken] = None,
    log: Optional[Log] = None,
    extensions: Optional[_core.Extensions] = None,
) -> _core.Options:
    """None leaves an option at its default."""
    made = _core.Options()
    types = {option.key: option.type for option in option_table()}
    for key, value in options.items():
        if value is None:
            continue
        kind = types.get(key)
        if kind == "indices" and not isinstance(value, str):
            made.set_indices(row(value, "i64", key))
        elif kind == "lengths" and not isinstance(value, str):
            made.set_lengths(row(value, "i64", key))
        elif kind == "weights" and not isinstance(value, str):
            made.set_weights(row(value, "f64", key))
        elif kind == "text":
            made.set(key, text_of(f"option {key}", value))
        else:
            made.set(key, _text(key, value))
    if cancel_token is not None:
        made.set_cancel_token(cancel_token)
    if log is not None:
        made.set_log(log)
    if extensions is not None:
        made.set_extensions(extensions)
    return made
