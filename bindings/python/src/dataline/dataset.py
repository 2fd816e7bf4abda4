"""Datasets.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
import os
from array import array as array_type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, NoReturn, Optional, SupportsIndex, Union, overload

from . import _calls, _core
from ._borrow import borrow_field
from ._options import Log, build, text_of
from ._reader import Read, Reader, Source
from ._rows import flag, is_boolean, listed, mapping, real, row, rows, whole
from .errors import Error
from .ragged import Ragged
from .schema import Field, ImageInfo, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._option_types import Options

_CauseOf = Callable[[int], Optional[BaseException]]

__all__ = ["Dataset", "concat", "escape", "from_arrays", "from_reader", "mix", "open", "zip"]


_FIELD = 'dataline.Field("x", "f32", (3,))'
_LABELS = "labels are part of their samples: read all with [int(sample['label']) for sample in dataset]"
# Attributes of torchvision's datasets that these do not have: targets would read all samples.
_OF_TORCHVISION = {
    "class_to_idx": "the dataset has no class names",
    "targets": _LABELS,
    "labels": _LABELS,
    "samples": "dataset[i] is a sample",
    "imgs": "dataset[i] is a sample",
}


class Dataset(_calls.Dataset):
    """Samples by index; returned by ``open``, ``from_arrays``, ``from_reader``, ``zip``, ``concat``, ``mix`` and
    ``subset``.

    ``len`` is the sample count, ``dataset[i]`` one sample. Immutable; any thread, concurrently. Loaders and composed
    datasets hold their own references to it, so it may be closed or dropped before them. Usable in a forked child.
    """

    _reader: Optional[Reader] = None

    def __init__(self) -> None:
        super().__init__()
        # The exception of a reader that made sample i of this dataset bad; None where there is none.
        self._cause_of: _CauseOf = lambda index: None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of one sample."""
        return tuple(Field(*field) for field in self._fields())

    @property
    def format(self) -> str:
        """``"idx"``, ``"zip"``, ``"arrays"``, ..."""
        return self._about()[0]

    @property
    def uri(self) -> str:
        """The URI passed to ``open``, or ``""``."""
        return self._about()[1]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: what was assumed, what is slow."""
        return self._about()[2]

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, indexed by label; ``()`` if the dataset has none. Decoded with ``os.fsdecode``, like names of
        directories."""
        return self._classes()

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class by its name, as in torchvision's ImageFolder.

        Raises AttributeError if the dataset has no class names.
        """
        names = self.classes
        if not names:
            raise AttributeError  # __getattr__ explains it
        return {name: label for label, name in enumerate(names)}

    if not TYPE_CHECKING:  # checkers find what is misspelt

        def __getattr__(self, name: str) -> NoReturn:
            instead = _OF_TORCHVISION.get(name)
            what = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(what if instead is None else f"{what}: {instead}")

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of a mix; ``()`` for other datasets."""
        return tuple(Part(**part) for part in rows(self._part_count, self._part_at))

    def identity(self) -> str:
        """Describes the files on this machine that the samples are read from, as lines of ``key: value``. Two texts are
        equal if the structure (formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or
        renamed. Compare them to decide whether earlier results computed from the dataset are still valid. Checks every
        file of a folder.

        Raises UnsupportedError: data in memory; a reader or a stored object with neither files nor a fingerprint.
        """
        return self._identity()

    def image_info(self, index: int, field: Optional[str] = None) -> ImageInfo:
        """The header of a sample's encoded image; does not decode it. ``field`` None: ``image``, or the only field with
        encoded bytes.

        Raises NoSuchFieldError, UnsupportedError (no encoded bytes), DataError (an index out of range, not an image, a
        truncated or inconsistent header), and the errors of reading the sample.
        """
        found = self._image_info(field, whole(index, "index"))
        return ImageInfo(nbytes=found.pop("bytes"), **found)

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> dict[str, NDArray[Any]]: ...
    @overload
    def __getitem__(self, index: slice, /) -> Dataset: ...
    def __getitem__(self, index: Union[SupportsIndex, slice], /) -> Union[dict[str, NDArray[Any]], Dataset]:
        """``dataset[i]`` is one stored sample: NumPy arrays by field, without a batch dim. ``dataset[-1]`` is the last
        sample. ``dataset[a:b]`` is a ``subset``. ``read`` also applies transforms; ``subset`` accepts indices.

        Raises IndexError, the errors of ``read``, and ImportError without NumPy: use ``read(i).tensor(name)`` instead.
        """
        count = len(self)
        if isinstance(index, slice):
            return self.subset(range(*index.indices(count)))
        try:
            if is_boolean(index):
                raise TypeError
            at = operator.index(index)
        except TypeError:
            what = type(index).__name__
            raise TypeError(
                f"expected an index or a slice, got {what}; for many, use dataset.subset(indices)"
            ) from None
        if not -count <= at < count:
            raise IndexError(f"sample {at}: the dataset has {count}")
        batch = self.read(at % count)
        return {name: values[0] for name, values in batch.items()}

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:
        """The samples in order, as ``dataset[i]`` returns them, one by one: for inspection; use a Loader for training."""
        return (self[index] for index in range(len(self)))

    def read(
        self,
        index: int,
        *,
        log: Optional[Log] = None,
        extensions: Optional[_core.Extensions] = None,
        **options: Unpack[Options],
    ) -> _core.Batch:
        """Reads one sample through the transforms of ``options``, as a batch of one. For viewers and tests, not for
        training.

        Only options that define a sample apply: ``transform``, ``seed``, ``device``, limits. Random operators draw as for
        the first sample of epoch 0.

        Raises DataError (an index out of range; a bad sample, with a reader's exception as its ``__cause__``), and the
        errors of creating a Loader.
        """
        try:
            return self._read(whole(index, "index"), build(options, None, log, extensions))
        except Error as error:
            self._explain(error)
            raise

    def _explain(self, error: BaseException) -> None:
        """Sets the exception of a reader as the cause of the error that names its sample."""
        index = getattr(error, "sample_index", None)
        cause = None if index is None else self._cause_of(index)
        # The sample may be bad for another reason this time.
        if cause is not None and type(cause).__name__ in str(error):
            error.__cause__ = cause

    @property
    def reader_errors(self) -> dict[int, BaseException]:
        """The last exceptions of a reader by sample index, with their tracebacks; at most 16. ``{}`` without a reader."""
        return self._reader.failures.recent() if self._reader is not None else {}

    def subset(self, indices: Any) -> Dataset:
        """The samples ``indices`` of this dataset, in that order. An array of packed i64 is borrowed, anything else is
        copied. A mask is rejected: pass ``numpy.flatnonzero(mask)``.

        Raises DataError: an index out of range; ValueError: a mask; TypeError: not whole numbers.
        """
        made = Dataset()
        loan = row(indices, "i64", "indices")
        made._subset(self, loan)
        inner = self._cause_of
        made._cause_of = lambda index: inner(loan.item(index))
        return made

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Dataset cannot be pickled or copied: open the same URI again where it is needed")

    def __repr__(self) -> str:
        if self.closed:
            return "<dataline.Dataset, closed>"
        names = ", ".join(f"{field.name}: {field.dtype} {list(field.shape)}" for field in self.fields)
        return f"<dataline.Dataset {self.format}, {len(self)} samples of {names}>"


def escape(path: Union[str, os.PathLike[str]]) -> str:
    """A path as a part of a URI, where ``% , ? & =`` have a meaning."""
    return "".join(f"%{ord(letter):02X}" if letter in "%,?&=" else letter for letter in os.fspath(path))


def _instead_of(value: Any) -> str:
    """The function that creates a dataset from this value."""
    if isinstance(value, Mapping):
        return "; use dataline.from_arrays(...) for a dict of arrays"
    if isinstance(value, (bytes, bytearray)):
        return "; convert it with os.fsdecode(...)"
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return "; use dataline.from_arrow(...) for a table"
    if hasattr(value, "with_format") and hasattr(value, "data"):
        return "; use dataline.from_huggingface(...)"
    array = any(hasattr(value, name) for name in ("__dlpack__", "__array_interface__", "__array__"))
    if array or isinstance(value, (memoryview, array_type)):
        return '; use dataline.from_arrays({"x": ...}) for arrays'
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
        return "; use dataline.from_reader(...) for samples by index"
    return ""


def uri_text(uri: Union[str, os.PathLike[str]]) -> str:
    """A URI for the library; a path object is always a bare path."""
    if not isinstance(uri, (str, os.PathLike)):
        raise TypeError(f"expected a URI, a path or a Dataset, got {type(uri).__name__}{_instead_of(uri)}")
    text = os.fspath(uri)
    if not isinstance(uri, str) and not os.path.isabs(text):
        text = os.path.join(os.curdir, text)  # never taken for a scheme
    return text


def open(
    uri: Union[str, os.PathLike[str]],
    *,
    cancel_token: Optional[_core.CancelToken] = None,
    log: Optional[Log] = None,
    extensions: Optional[_core.Extensions] = None,
    **options: Unpack[Options],
) -> Dataset:
    """Opens ``scheme:path[,path...][?key=value&...]``, or a bare path, whose format is detected.

    A ``pathlib.Path`` is always a bare path. ``log(level, text)`` receives log messages, with a short delay, on a Python
    thread; it is kept until the process ends. ``extensions`` are formats and storages of your own.

    Raises NotFoundError (a FileNotFoundError), CallError with the column of the error in the URI, DataError for files
    that are truncated, corrupt or do not match each other, CancelledError.
    """
    made = Dataset()
    made._open(uri_text(uri), build(options, cancel_token, log, extensions))
    return made


def from_arrays(
    arrays: Mapping[str, Any],
    *,
    axes: Optional[Mapping[str, str]] = None,
    copy: bool = False,
    log: Optional[Log] = None,
    **options: Unpack[Options],
) -> Dataset:
    """A dataset over arrays in host memory, one per field; the first dim is the samples.

    An array is any object with the buffer protocol (NumPy, ``array``, ``memoryview``), DLPack (torch, JAX, CuPy's pinned
    memory) or ``__array_interface__``; a Ragged of two arrays is a ragged field. Arrays are borrowed: they must not
    change, and are kept alive until the dataset and everything created from it are closed. ``copy=True`` copies them now.
    Masks, missing values and items that are not numbers (dates, objects, text) are rejected. Samples may have gaps,
    overlap, be in reverse order or all be the same row, but each has to be in C order. ``axes``: one letter per dim of a
    sample, by field, ``{"image": "HWC"}``.

    Raises TypeError for a value that is not such an array (a list), an error that is both a TypeError and a BufferError for
    an array that is not in host memory or does not lend it, and CallError for an array with gaps within samples.
    """
    described = []
    mapping(axes, "axes", "{'image': 'HWC'}")
    for name, value in mapping(arrays, "arrays", "{'x': array}").items():
        offsets = row(value.offsets, "i64", name) if isinstance(value, Ragged) else None
        loan = borrow_field(name, value.data if isinstance(value, Ragged) else value)
        described.append((name, loan, (axes or {}).get(name), offsets))
    unknown = set(axes or {}) - set(arrays)
    if unknown:
        raise ValueError(f"axes: no field {sorted(unknown)}; the fields are {list(arrays)}")
    made = Dataset()
    made._from_arrays(tuple(described), flag(copy, "copy"), build(options, None, log))
    return made


def from_reader(
    source: Union[Source, Sized],
    *,
    read: Optional[Read] = None,
    fields: Optional[Sequence[Field]] = None,
    fingerprint: Optional[str] = None,
    files: Iterable[Union[str, os.PathLike[str]]] = (),
    file_ends: Any = None,
    block_ends: Any = None,
    held_blocks: int = 0,
    log: Optional[Log] = None,
    **options: Unpack[Options],
) -> Dataset:
    """A dataset over ``source[index]``, for any object with ``__len__`` and ``__getitem__``.

    This is the slow path: with the interpreter's lock, samples are made one at a time, for any number of workers. If the
    source has ``__getitems__(indices)``, up to 64 samples are requested in one call. A sample is a dict, a tuple or one
    array. Its parts become fields named by key, position or ``data``, with the dtypes and shapes of sample 0 unless
    ``fields`` sets them. Numbers, ``str`` and ``bytes`` (ragged u8) are accepted. A later value that the type of the
    first one cannot represent makes its sample bad: 2 or 0.5 where sample 0 has True, 1.5 where it has an int, bytes
    where it has text. An int is accepted if the floats have its exact value.

    An exception makes a sample bad too: ``on_error`` decides what happens then. The error and ``loader.bad_samples()``
    contain its text. The exception is in ``dataset.reader_errors`` and is the ``__cause__`` of the error.

    ``fingerprint`` is a text that changes when the data changes: saved states and the option ``cache`` compare it.
    ``files`` are the local files that the samples are read from, in order. Each must exist. The library records their state
    when the dataset is created. Saved states, the option ``cache`` and ``Dataset.identity`` compare it, as for files that
    the library reads. ``file_ends`` has one number per file, ascending: the index after the file's last sample. The last
    number is ``len(source)``. A changed file then invalidates only its own samples in a cache.

    With ``read``, ``read(index, place)`` makes the samples, and only ``len`` of the source is used. ``Place`` contains
    the slot, the epoch and the seed, on which random draws should depend, and whether the sample is still wanted.

    Arrays of 4 KiB and more in C order are not copied: the library makes rows from them after the call, for up to 64
    samples together, and then releases them. So return a separate array for each sample, and do not write to it
    afterwards.

    ``block_ends`` marks blocks of samples that are cheap to read together, such as a compressed group. Block i ends
    before sample ``block_ends[i]``; the numbers ascend, and the last one is ``len(source)``. ``shuffle="window"`` reads
    each block within a short part of an epoch. ``held_blocks`` is the number of blocks that the source can keep open (0:
    any number). With 4 or more, ``shuffle="window"`` never needs more at a time.

    Other threads call the source, one at a time while Python has its lock. In a free-threaded Python, each worker calls
    it.
    """
    reader = Reader(source, None if fields is None else listed(fields, Field, "fields", _FIELD), read)
    ends = None if block_ends is None else row(block_ends, "i64", "block_ends")
    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError("files: expected a list of paths, as in [path], got one path")
    paths = tuple(os.fsencode(path) for path in files)
    file_rows = None if file_ends is None else row(file_ends, "i64", "file_ends")
    built = build(options, None, log)
    made = Dataset()
    held = whole(held_blocks, "held_blocks")
    made._from_reader(reader.read, reader.fields, len(source), fingerprint, paths, file_rows, ends, held, built)
    made._reader = reader
    made._cause_of = reader.failures.of
    return made


def zip(*parts: Dataset, **named: Dataset) -> Dataset:
    """Puts the fields of datasets of equal length side by side. ``zip(image=a, label=b)`` renames the field of each part,
    or, if it has several, prefixes them with ``name/``."""
    if parts and named:
        raise TypeError("expected all parts with names, or all without")
    made = Dataset()
    if named:
        parts = tuple(named.values())
        made._zip(parts, tuple(name.encode() for name in named))
    else:
        made._zip(parts, None)
    asked = [part._cause_of for part in parts]
    made._cause_of = lambda index: _cause_beside(asked, index)
    return made


def _cause_beside(parts: Sequence[_CauseOf], index: int) -> Optional[BaseException]:
    causes = (cause_of(index) for cause_of in parts)
    return next((cause for cause in causes if cause is not None), None)


def concat(*parts: Dataset) -> Dataset:
    """Concatenates datasets with equal fields, dtypes and shapes."""
    made = Dataset()
    made._concat(parts)
    asked = [(part._cause_of, len(part)) for part in parts]
    made._cause_of = lambda index: _cause_in(asked, index)
    return made


def mix(
    parts: Mapping[str, Dataset],
    *,
    weights: Optional[Mapping[str, float]] = None,
    repeats: Optional[Mapping[str, float]] = None,
    schedule: Optional[Mapping[int, Mapping[str, float]]] = None,
    samples_per_epoch: Optional[int] = None,
    transforms: Optional[Mapping[str, str]] = None,
    options: Optional[Options] = None,
) -> Dataset:
    """Draws from all parts by weight, or repeats each sample.

    ``weights`` are relative to each other; each part has its own epochs. ``schedule`` sets the weights that apply
    from a step of the job; parts that it does not name then have none. ``repeats`` is how often an epoch repeats each
    sample; for a fraction, each epoch draws again which samples are repeated once more. The parts have the same fields.
    ``transforms`` of a part (``{"code": "resize(32)"}``), which run before the loader's transform, make differently stored
    parts match. ``batch.info.sources`` is the part of each row, ``batch.info.indices`` its sample. The option
    ``pack_length`` packs the documents that are drawn.

    Raises CallError, DataError (parts that do not match, invalid weights, a part's transform).
    """
    if (weights is None) == (repeats is None):
        raise TypeError("expected weights or repeats, one per part")
    asked = weights if repeats is None else repeats
    assert asked is not None
    mapping(parts, "parts", "{'code': dataset}")
    mapping(transforms, "transforms", "{'code': 'resize(32)'}")
    for given in (asked, *mapping(schedule, "schedule", "{1000: {'code': 2}}").values(), transforms or {}):
        for name in mapping(given, "weights" if repeats is None else "repeats", "{'code': 2}"):
            if name not in parts:
                raise ValueError(f"no part {name!r}; the parts are {list(parts)!r}")
    kind = "weight" if repeats is None else "repeat"
    for name in parts:
        if name not in asked:
            raise ValueError(f"part {name!r} has no {kind}")

    def of(given: Optional[Mapping[str, float]]) -> tuple[float, ...]:
        return tuple(real((given or {}).get(name, 0.0), f"{kind} of {name!r}") for name in parts)

    made = Dataset()
    datasets = tuple(parts.values())
    stages = tuple((whole(step, "schedule"), of(shares)) for step, shares in sorted((schedule or {}).items()))
    names = tuple(name.encode() for name in parts)
    own = tuple(text_of(f"transform of {name!r}", (transforms or {}).get(name, "")).encode() for name in parts)
    samples = -1 if samples_per_epoch is None else whole(samples_per_epoch, "samples of an epoch")
    made._mix(datasets, names, own, of(weights), of(repeats), stages, samples, build(options or {}))
    return made


def _cause_in(parts: Sequence[tuple[_CauseOf, int]], index: int) -> Optional[BaseException]:
    for cause_of, count in parts:
        if index < count:
            return cause_of(index)
        index -= count
    return None
