"""Writing sets.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Union

from . import _calls, _core
from ._borrow import borrow_field
from ._rows import flag, listed, mapping, row
from .ragged import Ragged
from .schema import Field

__all__ = ["Writer", "Written"]


class Written(NamedTuple):
    """The progress of a writer."""

    samples: int
    """Samples appended, including those that existed when the writer was created."""
    resumed_samples: int
    """Samples that existed when the writer was created."""
    shards: int
    """Finished."""
    nbytes: int
    """Bytes of the finished shards."""


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(item, (bytes, bytearray, memoryview, str)) for item in value
    )


def _packed(texts: Sequence[Any]) -> Ragged[Any]:
    parts = [item.encode() if isinstance(item, str) else bytes(item) for item in texts]
    offsets = array("q", [0])
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return Ragged(b"".join(parts), offsets)


def _described(name: str, value: Any) -> tuple[str, _core.Loan, None, Any]:
    """The form in which ``_core`` expects an array."""
    if _is_texts(value):
        value = _packed(value)
    if isinstance(value, Ragged):
        return name, borrow_field(name, value.data), None, row(value.offsets, "i64", name)
    return name, borrow_field(name, value), None, None


def _field_like(name: str, value: Any, axes: str) -> Field:
    _, loan, _, offsets = _described(name, value)
    if offsets is None and not loan.shape:
        raise ValueError(f"{name}: expected an array whose first dim is the sample count, got a scalar")
    shape = loan.shape[1:] if offsets is None else (-1, *loan.shape[1:])
    return Field(name, loan.dtype, shape, offsets is not None, axes)


class Writer(_calls.Writer):
    """Writes rows as a set: a directory of shards and a manifest. ``dataline.open`` opens it as ``FORMAT:PATH``.

    ``uri`` is ``FORMAT:PATH[?shard_bytes=SIZE&codec=none|lz4|zstd]``. Formats are ``arrow`` and ``parquet`` (any field
    except bf16 and complex ones), ``tar`` (WebDataset), ``tfrecord``, ``npy`` and ``tokens`` (one field each). ``fields``
    are those of a dataset (``dataset.fields``), or a dict of arrays like those to append, with any number of rows.
    ``job`` identifies the input of the set.

    The set is ``PATH.partial`` until ``finish``, so ``PATH`` is always a complete set. After a crash, a new writer with
    the same arguments resumes after the last finished shard. ``position`` is then the position passed with the last rows
    of that shard, and ``info().samples`` the number of existing rows. As a context manager it is finished at the end, and
    only closed on an exception. Any thread may append. It may still change in a minor release.

    Raises CallError (the URI, with its column), UnsupportedError (a field that the format cannot store), WrongStateError
    (PATH exists, or another process writes it), StateError (``PATH.partial`` belongs to another job), and file errors.
    """

    def __init__(
        self,
        uri: Union[str, os.PathLike[str]],
        fields: Union[Sequence[Field], Mapping[str, Any]],
        *,
        axes: Union[Mapping[str, str], None] = None,
        job: str = "",
    ) -> None:
        super().__init__()
        axes = mapping(axes, "axes", "{'image': 'HWC'}")
        if isinstance(fields, Mapping):
            fields = [_field_like(name, value, axes.get(name, "")) for name, value in fields.items()]
        else:
            fields = listed(fields, Field, "fields", "*dataset.fields")
            for field in fields:
                flag(field.ragged, f"field '{field.name}': ragged")
        names = [field.name for field in fields]
        unknown = set(axes) - set(names)
        if unknown:
            raise ValueError(f"axes: no field {sorted(unknown)}; the fields are {names}")
        fields = [field._replace(axes=axes.get(field.name, field.axes)) for field in fields]
        self._names = names
        self._create(os.fspath(uri), tuple(tuple(field) for field in fields), job)

    @property
    def position(self) -> str:
        """The position of the last shard that existed when the writer was created; empty: none."""
        return self._position()

    def append(self, rows: Union[Mapping[str, Any], _core.Batch], position: str = "") -> None:
        """Appends rows: one array per field, the first dim the samples, as for ``from_arrays``; a Ragged; or a list of
        bytes and texts. A batch of a loader is such a mapping. ``position``: what the program needs to resume after these
        rows.

        Raises DataError or CallError for rows that cannot be stored: no row is written, and the writer stays usable.
        """
        if set(rows.keys()) != set(self._names):
            raise ValueError(f"expected the fields {self._names}, got {list(rows.keys())}")
        self._append(tuple(_described(name, rows[name]) for name in self._names), position)

    def finish(self) -> None:
        """Closes the last shard and renames the set to ``PATH``. Raises DataError if no row was appended."""
        self._finish()

    def info(self) -> Written:
        """The progress so far; any thread."""
        found = self._get_info()
        return Written(nbytes=found.pop("bytes"), **found)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *what: object) -> None:
        try:
            if kind is None and not self.closed:
                self.finish()
        finally:
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Writer cannot be pickled or copied: one process writes a set")
