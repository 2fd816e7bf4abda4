"""Records from Python objects: the slow path, one call at a time under the interpreter's lock, if it has one.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from itertools import zip_longest
from typing import Any, Optional, Protocol, Union

from . import _core
from ._failures import Failures
from ._values import field_of, taker_of, text_of
from .schema import Field

# How a sample is built up: a field's name, or a list or dict of the same.
Template = Any


class Source(Protocol):
    """Samples by index: PyTorch's map-style dataset. If it has ``__getitems__(indices)``, up to 64 samples are requested
    in one call."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class Place:
    """The context of a sample to read: ``slot``, its place in the epoch's order, ``epoch``, and the loader's ``seed``.
    ``slot`` and ``epoch`` are None for a sample that is read outside an epoch. Random draws that depend only on these are
    the same in every run."""

    slot: Optional[int]
    epoch: Optional[int]
    seed: int

    def __init__(self, cells: Optional[_core.Cells] = None, at: int = 0) -> None:
        slot, epoch, self.seed = (-1, -1, 0) if cells is None else cells.place(at)
        self.slot = slot if slot >= 0 else None
        self.epoch = epoch if epoch >= 0 else None
        self._cells = cells

    @property
    def cancelled(self) -> bool:
        """True when the sample is no longer wanted: its loader is being closed or was cancelled. The result or exception
        is then ignored."""
        return self._cells is not None and self._cells.cancelled()

    def __repr__(self) -> str:
        return f"Place(slot={self.slot}, epoch={self.epoch}, seed={self.seed})"


Read = Callable[[int, Place], Any]


def template_of(sample: Any, name: str = "") -> Template:
    """Names for the parts of a sample: keys of dicts and positions in tuples, joined by ``/``; ``data`` for a single
    array."""
    if isinstance(sample, Mapping):
        return {key: template_of(part, f"{name}/{key}" if name else str(key)) for key, part in sample.items()}
    if isinstance(sample, (tuple, list)):
        return [template_of(part, f"{name}/{at}" if name else str(at)) for at, part in enumerate(sample)]
    return name or "data"


def leaves(template: Template, sample: Any) -> Iterator[Any]:
    """The parts of a sample, in the order of the template's names."""
    if isinstance(template, dict):
        if not isinstance(sample, Mapping) or sample.keys() != template.keys():
            raise TypeError(f"expected a dict of {list(template)}, as the first sample is")
        for key, part in template.items():
            yield from leaves(part, sample[key])
    elif isinstance(template, list):
        if not isinstance(sample, (tuple, list)) or len(sample) != len(template):
            raise TypeError(f"expected {len(template)} parts, as the first sample has")
        for part, value in zip(template, sample):
            yield from leaves(part, value)
    else:
        yield sample


def parts_of(template: Template) -> Callable[[Any], Iterable[Any]]:
    """A function that splits a sample as ``leaves`` does, without its cost if nothing is nested."""
    if isinstance(template, list) and all(isinstance(part, str) for part in template):
        count = len(template)

        def of_row(sample: Any) -> Iterable[Any]:
            if type(sample) is tuple and len(sample) == count:
                return sample
            return leaves(template, sample)

        return of_row
    if isinstance(template, dict) and all(isinstance(part, str) for part in template.values()):
        keys = template.keys()

        def of_dict(sample: Any) -> Iterable[Any]:
            if type(sample) is dict and sample.keys() == keys:
                return [sample[key] for key in keys]
            return leaves(template, sample)

        return of_dict
    return lambda sample: leaves(template, sample)


def rebuild(template: Template, values: Mapping[str, Any]) -> Any:
    """The same structure with other values."""
    if isinstance(template, dict):
        return {key: rebuild(part, values) for key, part in template.items()}
    if isinstance(template, list):
        return [rebuild(part, values) for part in template]
    return values[template]


def names_in(template: Template) -> list[str]:
    """The names in the order of ``leaves``."""
    if isinstance(template, dict):
        return [name for part in template.values() for name in names_in(part)]
    if isinstance(template, list):
        return [name for part in template for name in names_in(part)]
    return [template]


class Reader:
    """Fills the library's cells from a source."""

    def __init__(
        self, source: Union[Source, Sized], fields: Optional[Sequence[Field]] = None, read: Optional[Read] = None
    ) -> None:
        self.source: Any = source
        self.given = read
        self.failures = Failures()
        texts: Sequence[Optional[type]] = ()
        if fields is not None and len(fields) == 1:
            self.template: Template = fields[0].name
            self.fields = tuple(fields)
            if len(source) and isinstance(self._first(), Mapping):
                self.template = {fields[0].name: fields[0].name}
        elif fields is not None:
            self.fields = tuple(fields)
            mapping = len(source) == 0 or isinstance(self._first(), Mapping)
            names = [field.name for field in fields]
            self.template = dict(zip(names, names)) if mapping else names
        else:
            if len(source) == 0:
                raise ValueError(
                    "the source is empty, so its fields are unknown: pass them, as in "
                    "fields=[dataline.Field('x', 'f32', (3,))]"
                )
            sample = self._first()
            self.template = template_of(sample)
            values = list(leaves(self.template, sample))
            self.fields = tuple(field_of(name, value) for name, value in zip(names_in(self.template), values))
            texts = [text_of(value) for value in values]
        self._parts = parts_of(self.template)
        self._takers = tuple(taker_of(*one) for one in zip_longest(self.fields, texts))

    def _first(self) -> Any:
        return self.source[0] if self.given is None else self.given(0, Place())

    def read(self, indices: tuple[int, ...], cells: _core.Cells) -> None:
        """Called by threads of the library."""
        try:
            self._read(indices, cells)
        except KeyboardInterrupt:
            raise  # no failure: they are made again
        except BaseException as error:  # all of them are bad
            for index in indices:
                self.failures.add(index, error)
            raise

    def _read(self, indices: tuple[int, ...], cells: _core.Cells) -> None:
        put, takers = cells.put, self._takers
        for at, (index, sample) in enumerate(zip(indices, self._samples(indices, cells))):
            try:
                if isinstance(sample, _Failed):
                    raise sample.error
                for field, value in enumerate(self._parts(sample)):
                    put(at, field, takers[field](value))
            except Exception as error:
                if cells.cancelled():
                    return  # it is no failure
                cells.fail(at, f"{type(error).__name__}: {error}")
                self.failures.add(index, error)

    def _samples(self, indices: tuple[int, ...], cells: _core.Cells) -> Iterator[Any]:
        if self.given is not None:
            for at, index in enumerate(indices):
                if cells.cancelled():
                    return
                try:
                    yield self.given(index, Place(cells, at))
                except Exception as error:
                    yield _Failed(error)
            return
        fetch = getattr(self.source, "__getitems__", None)
        if fetch is not None:
            try:
                samples = fetch(list(indices))
                if len(samples) != len(indices):
                    raise TypeError(f"__getitems__: expected {len(indices)} samples, got {len(samples)}")
            except Exception as error:
                if len(indices) == 1:
                    yield _Failed(error)
                    return
                # Request them one by one to find the failed one.
                samples = [next(self._samples((index,), cells)) for index in indices]
            yield from samples
            return
        for index in indices:
            if cells.cancelled():
                return
            try:
                yield self.source[index]
            except Exception as error:
                yield _Failed(error)


class _Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error
