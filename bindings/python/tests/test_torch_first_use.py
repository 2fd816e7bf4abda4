"""dataline.torch as somebody uses it the first time: one field's name, empty datasets.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import Subset, TensorDataset  # noqa: E402

import dataline  # noqa: E402
from dataline.torch import DataLoader, Sampler  # noqa: E402


class Nothing:
    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: int) -> Any:
        raise IndexError(index)


def arrays(count: int) -> dataline.Dataset:
    return dataline.from_arrays({"x": np.arange(count), "y": np.arange(count) * 2})


def test_the_name_of_one_field_gives_a_list_of_one() -> None:
    ((x,),) = DataLoader(arrays(4), 4, fields="x")
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.raises(KeyError, match=r"fields: expected some of \['x', 'y'\], got \['z'\]"):
        DataLoader(arrays(4), fields="z")
    wrong: Any
    for wrong in (3, {"x", "y"}, {"x": "y"}):  # a set has no order
        with pytest.raises(TypeError, match="fields: expected a name or a list of names, got "):
            DataLoader(arrays(4), fields=wrong)
    none: Any
    for none in ((), []):
        with pytest.raises(ValueError, match="fields: expected at least one name, got "):
            DataLoader(arrays(4), fields=none)


@pytest.mark.parametrize(
    "dataset",
    [
        pytest.param([], id="list"),
        pytest.param(Nothing(), id="class"),
        pytest.param(Subset([1, 2], []), id="subset of a list"),
        pytest.param(TensorDataset(torch.zeros(0, 3)), id="tensors"),
        pytest.param(arrays(0), id="arrays"),
        pytest.param(arrays(4).subset([]), id="subset"),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shuffle": True},
        {"num_workers": 0},
        {"num_workers": 2},
        {"collate_fn": list},
        {"drop_last": True},
        {"epochs": 5},
    ],
    ids=str,
)
def test_an_empty_dataset_gives_no_batches_in_each_epoch(dataset: Any, arguments: dict[str, Any]) -> None:
    with DataLoader(dataset, 2, **arguments) as loader:
        assert len(loader) == 0
        assert [list(loader) for _ in range(3)] == [[], [], []]
        loader.load_state_dict(loader.state_dict())
        assert list(loader) == []


def test_transforms_and_fields_do_not_matter_where_no_sample_is() -> None:
    assert list(DataLoader([], 2, transform="image: decode", fields=["image"])) == []


def test_fewer_samples_than_a_batch_and_drop_last_give_no_batches() -> None:
    loader = DataLoader(arrays(4), 8, drop_last=True)
    assert (len(loader), list(loader), list(loader)) == (0, [], [])


def test_a_sampler_of_nothing_is_empty() -> None:
    sampler = Sampler(0, shuffle=True)
    assert (len(sampler), list(sampler), list(sampler)) == (0, [], [])
