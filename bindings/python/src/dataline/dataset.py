"""Datasets.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
import os
from array import array as array_type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, NoReturn, Optional, SupportsIndex, Union, overload

from . import _core
from ._borrow import borrow_field
from ._options import Log, build, text_of
from ._reader import Read, Reader, Source
from ._rows import flag, is_boolean, listed, mapping, real, row, whole
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
_LABELS = "labels are read with their samples: [int(sample['label']) for sample in dataset] reads them all"
# What torchvision's datasets have and these have not: targets would read all samples.
_OF_TORCHVISION = {
    "class_to_idx": "it names no classes",
    "targets": _LABELS,
    "labels": _LABELS,
    "samples": "dataset[i] is a sample",
    "imgs": "dataset[i] is a sample",
}


class Dataset(_core.Dataset):
    """Samples by index; made by ``open``, ``from_arrays``, ``from_reader``, ``zip``, ``concat``, ``mix`` and ``subset``.

    ``len`` is the samples, ``dataset[i]`` one of them. Immutable; any thread, several at once. Loaders and composed
    datasets keep what they need of it, so it may be closed or dropped before them. Stays usable in a forked child.
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
        """As it was given to ``open``, or ``""``."""
        return self._about()[1]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of it: what was assumed, what is slow."""
        return self._about()[2]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes that labels number, from 0; ``()`` where the dataset names none. Decoded as ``os.fsdecode``
        decodes names of directories."""
        return self._classes()

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class by its name, as torchvision's ImageFolder has it.

        Raises AttributeError where the dataset names no classes.
        """
        names = self.classes
        if not names:
            raise AttributeError  # __getattr__ says why
        return {name: label for label, name in enumerate(names)}

    if not TYPE_CHECKING:  # checkers find what is misspelt

        def __getattr__(self, name: str) -> NoReturn:
            instead = _OF_TORCHVISION.get(name)
            what = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(what if instead is None else f"{what}: {instead}")

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of a mix; ``()`` for other datasets."""
        return tuple(Part(*part) for part in self._parts())

    def identity(self) -> str:
        """Which files of this machine the samples are read from, as text of lines ``key: value``. Two texts are equal while
        the structure (formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or renamed.
        Compare it to decide whether to reuse something that was made of the dataset earlier. Looks at every file of a
        folder.

        Raises UnsupportedError: data in memory, and a reader or an object of a storage that states neither files nor a
        fingerprint.
        """
        return self._identity()

    def image_info(self, index: int, field: Optional[str] = None) -> ImageInfo:
        """What the header of a sample's encoded image says; nothing is decoded. ``field`` None: ``image``, or the only field
        with encoded bytes.

        Raises NoSuchFieldError, UnsupportedError (no encoded bytes), DataError: an index out of range, no image, a header
        that is cut or contradicts itself; and what reading the sample may raise.
        """
        return ImageInfo(*self._image_info(whole(index, "index"), field))

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> dict[str, NDArray[Any]]: ...
    @overload
    def __getitem__(self, index: slice, /) -> Dataset: ...
    def __getitem__(self, index: Union[SupportsIndex, slice], /) -> Union[dict[str, NDArray[Any]], Dataset]:
        """``dataset[i]``: one sample as it is stored, NumPy arrays by field, without the batch's dim; ``dataset[-1]`` is the
        last one. ``dataset[a:b]`` is a ``subset``. ``read`` does it with transforms, and ``subset`` takes indices.

        Raises IndexError; ImportError without NumPy, which ``read(i).tensor(name)`` does without; what ``read`` raises.
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
            raise TypeError(f"expected an index or a slice, got {what}; dataset.subset(indices) takes many") from None
        if not -count <= at < count:
            raise IndexError(f"sample {at} of {count}")
        batch = self.read(at % count)
        return {name: values[0] for name, values in batch.items()}

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:
        """The samples in order, as ``dataset[i]`` gives them, one by one: for looking at them; a Loader is for training."""
        return (self[index] for index in range(len(self)))

    def read(
        self,
        index: int,
        *,
        log: Optional[Log] = None,
        extensions: Optional[_core.Extensions] = None,
        **options: Unpack[Options],
    ) -> _core.Batch:
        """One sample as a batch of one, through the transforms of ``options``; for viewers and tests, not for training.

        Of the options those apply that say what a sample is: ``transform``, ``seed``, ``device``, limits. Random operators
        draw as for the first sample of epoch 0.

        Raises DataError: an index out of range, a bad sample (what a reader raised is its ``__cause__``); and what making a
        Loader may raise.
        """
        try:
            return self._read(whole(index, "index"), build(options, None, log, extensions))
        except Error as error:
            self._explain(error)
            raise

    def _explain(self, error: BaseException) -> None:
        """The exception of a reader becomes the cause of the error that names its sample."""
        index = getattr(error, "sample_index", None)
        cause = None if index is None else self._cause_of(index)
        # The sample may be bad for another reason this time.
        if cause is not None and type(cause).__name__ in str(error):
            error.__cause__ = cause

    @property
    def reader_errors(self) -> dict[int, BaseException]:
        """The last exceptions of a reader by sample index, with their tracebacks; 16 at most. ``{}`` without a reader."""
        return self._reader.failures.recent() if self._reader is not None else {}

    def subset(self, indices: Any) -> Dataset:
        """The samples ``indices`` of this dataset, in that order. An array of packed i64 is borrowed, anything else
        copied. A mask is refused: ``numpy.flatnonzero(mask)`` gives its indices.

        Raises DataError: an index out of range; ValueError: a mask; TypeError: no whole numbers.
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
        raise TypeError("a Dataset cannot be pickled or copied: open it again, by the same URI, where it is wanted")

    def __repr__(self) -> str:
        if self.closed:
            return "<dataline.Dataset, closed>"
        names = ", ".join(f"{field.name}: {field.dtype} {list(field.shape)}" for field in self.fields)
        return f"<dataline.Dataset {self.format}, {len(self)} samples of {names}>"


def escape(path: Union[str, os.PathLike[str]]) -> str:
    """A path as it is written inside a URI, where ``% , ? & =`` have a meaning."""
    return "".join(f"%{ord(letter):02X}" if letter in "%,?&=" else letter for letter in os.fspath(path))


def _instead_of(value: Any) -> str:
    """What makes a dataset of this."""
    if isinstance(value, Mapping):
        return "; dataline.from_arrays(...) makes a dataset of a dict of arrays"
    if isinstance(value, (bytes, bytearray)):
        return "; os.fsdecode(...) makes text of it"
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return "; dataline.from_arrow(...) makes a dataset of a table"
    if hasattr(value, "with_format") and hasattr(value, "data"):
        return "; dataline.from_huggingface(...) makes a dataset of it"
    array = any(hasattr(value, name) for name in ("__dlpack__", "__array_interface__", "__array__"))
    if array or isinstance(value, (memoryview, array_type)):
        return '; dataline.from_arrays({"x": ...}) makes a dataset of arrays'
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
        return "; dataline.from_reader(...) makes a dataset of what it gives by index"
    return ""


def uri_text(uri: Union[str, os.PathLike[str]]) -> str:
    """A URI as the library takes it; a path object is always a bare path."""
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

    A ``pathlib.Path`` is always a bare path. ``log(level, text)`` hears remarks, soon, on a Python thread; it is kept for
    the life of the process. ``extensions`` are formats and storages of the program's own.

    Raises NotFoundError (a FileNotFoundError), CallError with the column of what is wrong in the URI, DataError for files
    that are cut, corrupt or do not fit each other, CancelledError.
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
    """A dataset of arrays in host memory, one a field; the first dim is the samples.

    Arrays are anything with the buffer protocol (NumPy, ``array``, ``memoryview``), DLPack (torch, JAX, CuPy's pinned
    memory) or ``__array_interface__``; a Ragged of two is a ragged field. They are borrowed: they must not change, and
    are kept alive until the dataset and all that came from it are gone. ``copy=True`` copies them now. Masks, missing
    values and items that are no numbers (dates, objects, text) are refused. Samples may lie apart, overlap, go down or be
    all the same row, but each has to be in C order. ``axes``: one letter a dim of a sample
    by field, ``{"image": "HWC"}``.
    """
    described = []
    mapping(axes, "axes", "{'image': 'HWC'}")
    for name, value in mapping(arrays, "arrays", "{'x': array}").items():
        offsets = row(value.offsets, "i64", name) if isinstance(value, Ragged) else None
        loan = borrow_field(name, value.data if isinstance(value, Ragged) else value)
        described.append((name, loan, (axes or {}).get(name), offsets))
    unknown = set(axes or {}) - set(arrays)
    if unknown:
        raise ValueError(f"axes: no field {sorted(unknown)}; there are {list(arrays)}")
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
    """A dataset of what ``source[index]`` gives, for any object with ``__len__`` and ``__getitem__``.

    The slow path: samples are made one at a time under the interpreter's lock, if there is one, however many workers there
    are. With
    ``__getitems__(indices)`` up to 64 are asked for at once. A sample is a dict, a tuple or one array; its parts become
    fields named by key, place or ``data``, of the dtypes and shapes of sample 0 unless ``fields`` says so. Numbers,
    ``str`` and ``bytes`` (ragged u8) will do. A later value that the type of the first one does not hold makes its sample
    bad: 2 or 0.5 where sample 0 has True, 1.5 where it has an int, bytes where it has text. An int may be given where the
    floats have its exact value. An exception makes a sample bad too: ``on_error`` says what becomes of it;
    its text is in the error and in ``loader.bad_samples()``, itself in ``dataset.reader_errors`` and the ``__cause__`` of
    the error.

    ``fingerprint`` is text that differs when the data differs: saved states and the option ``cache`` compare it. ``files``
    are the files of this machine that the samples are read from, in order. Each must exist. Saved states, the option
    ``cache`` and ``Dataset.identity`` compare them, as they are when the dataset is made, as they compare files that the
    library reads itself. ``file_ends`` has one number per file, ascending: the sample after its last one. The last number is
    ``len(source)``. A changed file then invalidates only its own samples in a cache.

    With ``read``, ``read(index, place)`` makes the samples, and of the source only ``len`` is asked; the ``Place`` says for
    which place of which epoch (what random draws should depend on), and whether anybody still wants the sample.

    Arrays of 4 KiB and more in C order are not copied: rows are made from them after the call, up to 64 at once, and they
    are let go then. So give each sample an array of its own, and do not write to it afterwards.

    Samples that cost little together once one of them is read, as those of a compressed group, are blocks: block i ends
    before sample ``block_ends[i]``; they rise, and the last one is ``len(source)``. ``shuffle="window"`` reads each within
    one stretch of an epoch. ``held_blocks`` says how many of them the source can keep open (0: any number): from 4 on it
    never needs more at a time.

    The source is called from other threads, never two at once while Python has its lock; in a free-threaded Python by each
    worker.
    """
    reader = Reader(source, None if fields is None else listed(fields, Field, "fields", _FIELD), read)
    ends = None if block_ends is None else row(block_ends, "i64", "block_ends")
    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError("files: expected several paths, as in [path], got one path")
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
    """Fields side by side, of datasets of equal length. ``zip(image=a, label=b)`` names the only field of each, or puts
    ``name/`` before the names of several."""
    if parts and named:
        raise TypeError("expected parts with names or without, not both")
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
    """One after another; the same fields, dtypes and shapes."""
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
    """Draws from all parts in their shares, or has each sample so many times in an epoch.

    ``weights`` are relative to each other, and a part goes through its own epochs. ``schedule`` says which weights hold from
    a step of the job on; parts that it does not name have none then. ``repeats``: of a fraction, samples that come once
    more are drawn anew for each epoch. The parts have the same fields; those that are stored differently become
    alike by ``transforms`` of their own (``{"code": "resize(32)"}``), which run before the loader's. ``batch.info.sources``
    says which part each row is of, ``batch.info.indices`` which sample of it. Of the options, ``pack_length`` packs the
    documents that are drawn.

    Raises CallError, DataError (parts that do not fit, weights that cannot be, a part's transform).
    """
    if (weights is None) == (repeats is None):
        raise TypeError("expected weights or repeats, one a part")
    asked = weights if repeats is None else repeats
    assert asked is not None
    mapping(parts, "parts", "{'code': dataset}")
    mapping(transforms, "transforms", "{'code': 'resize(32)'}")
    for given in (asked, *mapping(schedule, "schedule", "{1000: {'code': 2}}").values(), transforms or {}):
        for name in mapping(given, "weights" if repeats is None else "repeats", "{'code': 2}"):
            if name not in parts:
                raise ValueError(f"no part is called {name!r}; there are {list(parts)!r}")
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
