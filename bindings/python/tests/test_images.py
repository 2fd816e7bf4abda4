"""What encoded images say of themselves, and how values become pixels again.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dataline
from conftest import loader_of

# 2x1 grey pixels, 10 and 200.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000010800000000d1492056"
    "0000000b4944415478da63e03a010000df00d3d885d2ae0000000049454e44ae426082"
)


@pytest.fixture
def pictures(tmp_path: Path) -> dataline.Dataset:
    (tmp_path / "grey").mkdir()
    (tmp_path / "grey" / "1.png").write_bytes(PNG)
    return dataline.open(f"folder:{dataline.escape(tmp_path)}")


def test_headers_are_read_without_decoding(pictures: dataline.Dataset) -> None:
    info = pictures.image_info(0)
    assert info == dataline.ImageInfo("png", 2, 1, 1, 8, 1, False, len(PNG))
    assert pictures.image_info(0, "image") == pictures.image_info(0, field="image") == info
    with pytest.raises(dataline.DataError):
        pictures.image_info(1)
    with pytest.raises(dataline.UnsupportedError):
        pictures.image_info(0, "label")
    with pytest.raises(dataline.NoSuchFieldError):
        pictures.image_info(0, "imag")
    pictures.close()
    with pytest.raises(dataline.WrongStateError):
        pictures.image_info(0)


def test_the_header_of_a_readers_image_is_read_through_it() -> None:
    dataset = dataline.from_reader([{"image": PNG}, {"image": b"no image"}])
    assert dataset.image_info(0).width == 2
    with pytest.raises(dataline.DataError) as raised:
        dataset.image_info(1)
    assert raised.value.sample_index == 1


def test_delivered_values_are_pixels_again(pictures: dataline.Dataset) -> None:
    loader = dataline.Loader(pictures, transform="image: decode, normalize(imagenet)")
    (batch,) = loader
    for channel in range(3):
        scale, offset = loader.pixel_scale("image", channel)
        assert np.rint((batch["image"][..., channel].ravel() - offset) / scale).tolist() == [10, 200]
    assert loader.pixel_scale("image") == loader.pixel_scale("image", channel=0)
    with pytest.raises(dataline.CallError):
        loader.pixel_scale("image", 3)
    with pytest.raises(dataline.NoSuchFieldError, match="image"):
        loader.pixel_scale("imag")
    with pytest.raises(dataline.UnsupportedError):
        loader_of(3).pixel_scale("x")
