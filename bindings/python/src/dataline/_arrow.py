"""Datasets of Arrow tables in memory, through Arrow's PyCapsule interface.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._options import Log, build
from ._rows import fields as names_of
from .dataset import Dataset, escape

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["from_arrow", "from_huggingface"]


def from_arrow(
    table: Any,
    *,
    fields: Union[None, str, Sequence[str]] = None,
    nulls: str = "error",
    log: Optional[Log] = None,
    **options: Unpack[Options],
) -> Dataset:
    """A dataset over the rows of a table: any object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (pyarrow,
    polars, pandas, DuckDB's relations, nanoarrow).

    Fields are the columns, as in the format ``arrow``; ``fields`` selects one, or several in that order.
    ``nulls="fill(0)"`` delivers 0, or an empty row for a ragged field, where a sample would be bad. With
    ``nulls="mask"``, fields ``NAME/valid`` mark the nulls. Values are delivered from the table's memory; only bools are
    copied. The memory is kept alive until the dataset and everything created from it are closed. A stream, such as a
    ``RecordBatchReader``, is read to its end.

    Raises UnsupportedError for a type that is not supported, NoSuchFieldError, DataError for an inconsistent table.
    """
    if hasattr(table, "__arrow_c_stream__"):
        capsules: tuple[Any, ...] = (table.__arrow_c_stream__(),)
    elif hasattr(table, "__arrow_c_array__"):
        capsules = tuple(table.__arrow_c_array__())
    else:
        raise TypeError(f"expected a table (with __arrow_c_stream__ or __arrow_c_array__), got {type(table).__name__}")
    keys = [f"nulls={escape(nulls)}"]
    if fields is not None:
        keys.append("fields=" + ",".join(escape(name) for name in names_of(fields)))
    made = Dataset()
    made._from_arrow(capsules, "&".join(keys), build(options, None, log))
    return made


def from_huggingface(
    dataset: Any,
    *,
    fields: Union[None, str, Sequence[str]] = None,
    nulls: str = "error",
    log: Optional[Log] = None,
    **options: Unpack[Options],
) -> Dataset:
    """A dataset over a Hugging Face ``datasets.Dataset``: its mapped Arrow table, in the order set by ``select``,
    ``shuffle`` and ``filter``. Transforms that ``datasets`` applies when it reads a row (``set_transform``, decoding of
    images) are not applied. Encoded images are the field ``image/bytes``, for Dataline's ``decode``. For a
    ``DatasetDict``, pass one split.

    Raises the errors of ``from_arrow``.
    """
    data = getattr(dataset, "data", None)
    table = getattr(data, "table", None)
    if table is None:
        hint = "; pass one split, as in dataset['train']" if isinstance(dataset, dict) else ""
        raise TypeError(f"expected a datasets.Dataset, got {type(dataset).__name__}{hint}")
    made = from_arrow(table, fields=fields, nulls=nulls, log=log, **options)
    order = dataset._indices  # a table of one column, where the rows are not all in their order
    return made if order is None else made.subset(order.column(0).to_numpy().astype("int64"))
