"""Arguments as somebody writes them the first time: one name for a list, Python code for a transform, an empty dataset.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dataline


class Resize:
    """Called as torchvision's."""

    def __call__(self, image: Any) -> Any:
        return image


class Compose:
    def __init__(self, *transforms: Any) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        return image


def arrays() -> dataline.Dataset:
    return dataline.from_arrays({"x": np.arange(4), "y": np.arange(4) * 2})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda row: row, ["Python code", '"decode, resize(256)"', "__getitem__", "Extensions.add_operator"]),
        (Resize(), ["Python code", "use resize(...) instead", "Extensions.add_operator"]),
        (Compose(Resize(), print), ["Python code", "use resize(...) instead"]),
        ([Resize()], ["Python code", "use resize(...) instead"]),
        ({"image": Resize()}, ['write one text, "image: ..."', "Python code", "use resize(...) instead"]),
        ({"image": "decode", "label": "cast(i64)"}, ['write one text, "image: decode; label: cast(i64)"']),
        (["flatten", "cast(f32)"], ['write one text, "flatten, cast(f32)"']),
        (3, ["expected text, got 3"]),
    ],
)
def test_a_transform_that_is_not_text_says_what_it_is_and_where_it_goes(value: Any, words: list[str]) -> None:
    uses: list[Callable[[], Any]] = [
        lambda: dataline.Loader(arrays(), transform=value),
        lambda: dataline.open("x", transform=value),
        lambda: arrays().read(0, transform=value),
        lambda: dataline.mix({"a": arrays()}, weights={"a": 1}, transforms={"a": value}),
    ]
    for use in uses:
        with pytest.raises(TypeError) as caught:
            use()
        for word in words:
            assert word in str(caught.value)


def test_edges_in_a_list_are_shown_as_text() -> None:
    edges: Any = [128, 256]
    with pytest.raises(
        TypeError, match=re.escape('bucket_edges: expected text, got [128, 256]; write one text, "128,256"')
    ):
        dataline.Loader(arrays(), bucket_edges=edges)


def test_one_field_of_a_reader_stands_for_a_list_of_one() -> None:
    field: Any = dataline.Field("x", "i64")
    dataset = dataline.from_reader([np.int64(3)], fields=field)
    assert dataset[0]["x"] == 3
    for wrong in ("x", ["x"], {"x": "i64"}, 5):
        with pytest.raises(TypeError, match=r"fields: expected a list, as in \[dataline.Field"):
            dataline.from_reader([np.int64(3)], fields=wrong)  # type: ignore[arg-type]


def test_lists_of_extensions_take_one_item() -> None:
    extensions = dataline.Extensions()
    suffix: Any = ".grid"
    key: Any = dataline.FormatKey("skip", "INTEGER", "0")
    extensions.add_format("grid", lambda request: arrays(), keys=key, suffixes=suffix)
    (made,) = [info for info in dataline.format_table(extensions) if info.name == "grid"]
    assert [one.name for one in made.keys] == ["skip"]
    argument: Any = dataline.TransformArgument("value", "number")
    extensions.add_operator("add", lambda use: lambda row: row.data, arguments=argument)
    (operator,) = [info for info in dataline.transform_table(extensions) if info.name == "add"]
    assert operator.arguments == (argument,)
    for wrong in ("value", ["value"]):
        with pytest.raises(TypeError, match="arguments: expected a list, as in"):
            extensions.add_operator("sub", lambda use: lambda row: row.data, arguments=wrong)  # type: ignore[arg-type]


def test_what_is_a_dict_by_name_says_so() -> None:
    array: Any = np.zeros((2, 3))
    axes: Any = "HWC"
    with pytest.raises(TypeError, match=r"arrays: expected a dict by name, as in {'x': array}"):
        dataline.from_arrays(array)
    with pytest.raises(TypeError, match=r"axes: expected a dict by name, as in {'image': 'HWC'}, got 'HWC'"):
        dataline.from_arrays({"x": array}, axes=axes)
    parts: Any = [arrays()]
    weights: Any = [1.0]
    with pytest.raises(TypeError, match="parts: expected a dict by name"):
        dataline.mix(parts, weights={"a": 1})
    with pytest.raises(TypeError, match="weights: expected a dict by name"):
        dataline.mix({"a": arrays()}, weights=weights)


def test_a_reader_of_nothing_says_that_it_is_empty() -> None:
    with pytest.raises(ValueError, match=r"the source is empty.*pass them, as in fields="):
        dataline.from_reader([])


def test_a_bad_sample_of_a_reader_is_named_once() -> None:
    class Fails:
        def __len__(self) -> int:
            return 20

        def __getitem__(self, index: int) -> int:
            if index == 13:
                raise ValueError("nothing here")
            return index

    dataset = dataline.from_reader(Fails())
    for use in (lambda: list(dataline.Loader(dataset, epochs=1)), lambda: dataset.read(13), lambda: dataset[13]):
        with pytest.raises(dataline.DataError, match="ValueError: nothing here") as caught:
            use()
        assert str(caught.value).count("sample 13") == 1


@pytest.mark.parametrize("value", [("image", "label"), [0], print, None, "x", 3, np.zeros(2)])
def test_an_option_that_does_not_exist_is_named_before_its_value_is_read(value: Any) -> None:
    uses: list[Callable[..., Any]] = [
        lambda **options: dataline.Loader(arrays(), **options),
        lambda **options: dataline.open("x", **options),
        lambda **options: arrays().read(0, **options),
    ]
    for use in uses:
        for name, words in {
            "fields": "no option 'fields'; it is a key of URIs, as in npz:PATH?fields=NAMES; dataline.torch.DataLoader has",
            "sampler": "no option 'sampler'; dataline.torch.DataLoader has the argument sampler",
            "generator": "dataline.torch.DataLoader has the argument generator",
            "prefetch_factor": "did you mean 'prefetch_depth'? dataline.torch.DataLoader has the argument",
            "num_worker": "no option 'num_worker', did you mean 'num_workers'?",
        }.items():
            with pytest.raises(dataline.UnknownOptionError) as caught:
                use(**{name: value})
            assert words in str(caught.value)
            assert caught.value.name == "DL_ERR_UNKNOWN_OPTION"


def test_a_list_is_no_array_and_the_error_is_a_public_one() -> None:
    class NotLent:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

        def __dlpack__(self) -> None: ...

    for value in ([], [1, 2], 3):
        with pytest.raises(TypeError, match="field 'x': expected an array") as caught:
            dataline.from_arrays({"x": value})
        assert caught.type is TypeError
    for public in (TypeError, BufferError):
        with pytest.raises(public, match="field 'x': expected an array"):
            dataline.from_arrays({"x": NotLent()})
