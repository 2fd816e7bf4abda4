"""Keyword arguments as options. The library defines keys, types and limits.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, Optional

from . import _core
from ._rows import is_boolean, row, short
from .errors import Error
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
    """A value as the option table reads it: ``"full"`` for ``shuffle=True``, ``"8"`` for a batch size of 8.

    Raises CallError, as creating a Loader does.
    """
    made = _core.Options()
    made.set(key, _text(key, value))
    return made.get(key)


def text_of(key: str, value: Any) -> str:
    """The value of a text option. Raises TypeError for other values; the error shows how to write the text."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    expected = f"{key}: expected text, got {short(value)}"  # cache=True is not a directory
    if isinstance(value, (list, tuple)) and all(isinstance(item, (str, int)) for item in value):
        separator = ", " if all(isinstance(item, str) for item in value) else ","
        raise TypeError(f'{expected}; write one text, "{separator.join(map(str, value))}"')
    if isinstance(value, Mapping):
        steps = [item for item in value.values() if not isinstance(item, str)]
        fields = "; ".join(f"{field}: {item if isinstance(item, str) else '...'}" for field, item in value.items())
        raise TypeError(f'{expected}; write one text, "{fields}"' + (_of_code(steps) if steps else ""))
    if callable(value) or isinstance(value, (list, tuple)):
        raise TypeError(expected + _of_code(value))
    raise TypeError(expected)


def _of_code(value: Any) -> str:
    """The advice for Python code that is passed instead of operator names."""
    steps = list(getattr(value, "transforms", None) or (value if isinstance(value, (list, tuple)) else [value]))
    ours = {info.source.rpartition(".")[2].partition("(")[0]: info.name for info in transform_table()}
    same = [f"{ours[type(step).__name__]}(...)" for step in steps if type(step).__name__ in ours]
    text = ', which is Python code: a transform is text that names operators, as in "decode, resize(256)"'
    if same:
        text += f"; use {', '.join(same)} instead"
    return text + (
        ". Put Python code into the dataset that creates the samples (__getitem__ of dataline.from_reader's source), or "
        "into an operator (Extensions.add_operator)"
    )


# Arguments of PyTorch's loader, and of dataline.torch.DataLoader, that are not options.
_OF_TORCH = (
    "batch_sampler",
    "collate_fn",
    "fields",
    "generator",
    "in_order",
    "into",
    "multiprocessing_context",
    "persistent_workers",
    "prefetch_factor",
    "sampler",
    "timeout",
    "worker_init_fn",
)


def _refuse_unknown(key: str) -> None:
    """Raises UnknownOptionError as the library does, whatever the type of the value."""
    try:
        _core.Options().set(key, "")
    except Error as error:
        if key not in _OF_TORCH:
            raise
        text = str(error)
        text += f"{' ' if text.endswith('?') else '; '}dataline.torch.DataLoader has the argument {key}"
        raise type(error)(text, error.code, error.name) from None


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
        kind = types.get(key)
        if kind is None:
            _refuse_unknown(key)
        if value is None:
            continue
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
