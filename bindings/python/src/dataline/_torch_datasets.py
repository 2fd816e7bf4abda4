"""The datasets that PyTorch's loader takes, as the library's.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.utils.data import Subset, TensorDataset

from ._reader import Template, leaves, names_in, template_of
from ._values import field_of
from .dataset import Dataset, from_arrays, from_reader


def is_python(dataset: Any) -> bool:
    """Whether its samples are made by Python code."""
    if type(dataset) is Subset:
        return is_python(dataset.dataset)
    return not isinstance(dataset, Dataset) and type(dataset) is not TensorDataset


def is_plain(sample: Any) -> bool:
    """Whether it is made of arrays, numbers and text, in dicts, lists and tuples, which the library gives back."""
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
    """The dataset, what a sample is built like (None: a dict by field), and the fields that are text."""
    if isinstance(dataset, Dataset):
        return dataset, None, []
    if type(dataset) is TensorDataset:
        parts = {str(at): tensor.detach() for at, tensor in enumerate(dataset.tensors)}
        return from_arrays(parts, **options), list(parts), []
    if type(dataset) is Subset:
        whole, template, texts = opened(dataset.dataset, options)
        return whole.subset(dataset.indices), template, texts
    return _read(dataset, options)


def _read(source: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    refuse_what_is_no_dataset(source)
    sample = source[0]
    template = template_of(sample)
    parts = zip(names_in(template), leaves(template, sample))
    return from_reader(source, **options), template, [name for name, value in parts if isinstance(value, str)]
