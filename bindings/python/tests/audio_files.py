"""What the tests of the audio plug-in share: where it is, files of each kind, and rows out of them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline

sf = pytest.importorskip("soundfile", reason="soundfile, which writes the files, is not installed")

# name: (container of soundfile, subtype, suffix, rate)
KINDS = {
    "wav u8": ("WAV", "PCM_U8", "wav", 22050),
    "wav i16": ("WAV", "PCM_16", "wav", 44100),
    "wav i24": ("WAVEX", "PCM_24", "wav", 48000),
    "wav i32": ("WAV", "PCM_32", "wav", 44100),
    "wav f32": ("WAV", "FLOAT", "wav", 44100),
    "wav f64": ("WAV", "DOUBLE", "wav", 44100),
    "wav ulaw": ("WAV", "ULAW", "wav", 8000),
    "wav adpcm": ("WAV", "IMA_ADPCM", "wav", 22050),
    "rf64 i16": ("RF64", "PCM_16", "wav", 44100),
    "flac i16": ("FLAC", "PCM_16", "flac", 44100),
    "flac i24": ("FLAC", "PCM_24", "flac", 96000),
    "vorbis": ("OGG", "VORBIS", "ogg", 44100),
    "opus": ("OGG", "OPUS", "opus", 48000),
    "opus 16k": ("OGG", "OPUS", "opus", 16000),
    "mp3": ("MP3", "MPEG_LAYER_III", "mp3", 44100),
    "mp3 16k": ("MP3", "MPEG_LAYER_III", "mp3", 16000),
}


def plugin() -> Optional[Path]:
    root = Path(__file__).parents[3]
    named = os.environ.get("DATALINE_AUDIO_PLUGIN")
    folders = [os.environ.get("DATALINE_LIB_DIR", ""), str(root / "build" / "release" / "lib")]
    found = [Path(named)] if named else [Path(folder) / "libdataline-audio.so" for folder in folders if folder]
    return next((path for path in found if path.exists()), None)


def load_plugin() -> dataline.Extensions:
    path = plugin()
    if path is None:
        pytest.skip("libdataline-audio.so was not built (DATALINE_LIB_DIR, DATALINE_AUDIO_PLUGIN)")
    made = dataline.Extensions()
    made.load(path)
    return made


def sound(seconds: float, rate: int, channels: int = 1, seed: int = 0) -> Any:
    """Tones and noise, [time, channels]."""
    draw = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    tones = [0.4 * np.sin(2 * np.pi * 300 * (c + 1) * time + c) for c in range(channels)]
    return np.stack(tones, 1) + 0.05 * draw.standard_normal((time.size, channels))


def encoded(kind: str, samples: Any, rate: Optional[int] = None) -> bytes:
    container, subtype, _, usual = KINDS[kind]
    out = io.BytesIO()
    sf.write(out, samples, rate or usual, format=container, subtype=subtype)
    return out.getvalue()


def folder_of(path: Path, files: dict[str, bytes]) -> str:
    """The files in one class of a folder, as a URI."""
    (path / "class").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / "class" / name).write_bytes(content)
    suffixes = ",".join(sorted({Path(name).suffix for name in files}))
    return f"folder:{path}?extensions={suffixes}"


def rows_of(
    uri: str, extensions: dataline.Extensions, transform: str, field: str = "image", **options: Any
) -> list[Any]:
    """Each sample of a field after a transform."""
    options = {"batch_size": 3, "epochs": 1, "max_bytes_per_sample": "16MiB", **options}
    out = []
    loader = dataline.Loader(uri, extensions=extensions, transform=f"{field}: {transform}", **options)
    for batch in loader:
        column = batch[field]
        out += [np.array(column[i]) for i in range(batch.info.samples)]
    return out


def made_of(values: Any, extensions: dataline.Extensions, transform: str, **options: Any) -> Any:
    data = dataline.from_arrays({"x": np.ascontiguousarray(values)})
    loader = dataline.Loader(
        data, extensions=extensions, transform=transform, batch_size=len(values), epochs=1, **options
    )
    return np.array(next(iter(loader))["x"])
