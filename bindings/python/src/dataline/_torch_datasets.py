"""The datasets that PyTorch's loader accepts, as datasets of the library.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from torch.utils.data import Subset, TensorDataset

from ._reader import Template, leaves, names_in, template_of
from ._values import field_of
from .dataset import Dataset, from_arrays, from_reader
from .errors import DataError
from .schema import Field

_Made = TypeVar("_Made")
_MANY_EPOCHS = 2**31 - 1


def is_python(dataset: Any) -> bool:
    """Whether Python code makes its samples."""
    if type(dataset) is Subset:
        return is_python(dataset.dataset)
    return not isinstance(dataset, Dataset) and type(dataset) is not TensorDataset


def is_plain(sample: Any) -> bool:
    """Whether it contains only arrays, numbers and text, in dicts, lists and tuples, which the library can return."""
    if type(sample) in (list, tuple):
        return all(map(is_plain, sample))
    if type(sample) is dict:
        return all(map(is_plain, sample.values()))
    if isinstance(sample, (Mapping, tuple, list)):
        return False
    try:
        field_of("x", sample)
    except TypeError:
        return False
    return True


def refuse_what_is_no_dataset(source: Any) -> None:
    if not hasattr(source, "__getitem__") or not hasattr(source, "__len__"):
        raise TypeError(
            f"expected a Dataset, a URI, or an object with __len__ and __getitem__, got {type(source).__name__}"
        )


def opened(dataset: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    """The dataset, the structure of a sample (None: a dict by field), and the text fields."""
    if isinstance(dataset, Dataset):
        return dataset, None, []
    if type(dataset) is TensorDataset:
        parts = {str(at): tensor.detach() for at, tensor in enumerate(dataset.tensors)}
        return from_arrays(parts, **options), list(parts), []
    if type(dataset) is Subset:
        whole, template, texts = opened(dataset.dataset, options)
        return whole.subset(dataset.indices), template, texts
    return _read(dataset, options)


def is_empty(dataset: Any) -> bool:
    """Whether it is a dataset of Python code without samples, so that its fields are unknown."""
    return is_python(dataset) and hasattr(dataset, "__len__") and len(dataset) == 0


def counted(count: int) -> Dataset:
    """A dataset of which only the length is used."""
    return from_reader(range(count), fields=[Field("index", "i64")])


def loader(make: Callable[..., _Made], dataset: Dataset, **options: Any) -> _Made:
    """A loader whose epochs may have no steps, as those of PyTorch may. The library rejects an endless job of such
    epochs, so this one gets a number of epochs that no program reaches."""
    try:
        return make(dataset, **options)
    except DataError as error:
        if error.name != "DL_ERR_EMPTY":
            raise
    return partial(make, epochs=_MANY_EPOCHS)(dataset, **options)


def _read(source: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    refuse_what_is_no_dataset(source)
    if is_empty(source):
        return counted(0), None, []
    sample = source[0]
    template = template_of(sample)
    parts = zip(names_in(template), leaves(template, sample))
    return from_reader(source, **options), template, [name for name, value in parts if isinstance(value, str)]
