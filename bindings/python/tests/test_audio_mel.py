"""The plug-in libdataline-audio.so: spectrograms by their formula, and as librosa and torchaudio give them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from audio_files import KINDS, encoded, folder_of, load_plugin, made_of, rows_of, sound


@pytest.fixture(scope="module")
def extensions() -> dataline.Extensions:
    return load_plugin()


def mel_by_formula(
    x: Any, n_mels: int = 80, n_fft: int = 400, hop_length: int = 160, win_length: int = 0, rate: int = 16000,
    f_min: float = 0, f_max: float = 0, power: int = 2, mel_scale: str = "htk", norm: str = "none", center: bool = True,
    pad_mode: str = "reflect",
) -> Any:  # fmt: skip
    """In f64: [frames, n_mels]."""
    win_length, f_max = win_length or n_fft, f_max or rate / 2
    x = x.astype(np.float64)
    if center:
        x = np.pad(x, n_fft // 2, mode="reflect" if pad_mode == "reflect" else "constant")
    window = np.zeros(n_fft)
    left = (n_fft - win_length) // 2
    window[left : left + win_length] = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(win_length) / win_length)
    frames = np.stack([x[i : i + n_fft] * window for i in range(0, len(x) - n_fft + 1, hop_length)])
    spectrum = np.abs(np.fft.rfft(frames, axis=1)) ** power

    def to_mel(hertz: Any) -> Any:
        if mel_scale == "htk":
            return 2595 * np.log10(1 + hertz / 700)
        return np.where(hertz < 1000, hertz * 3 / 200, 15 + 27 * np.log(np.maximum(hertz, 1) / 1000) / np.log(6.4))

    def to_hertz(mel: Any) -> Any:
        if mel_scale == "htk":
            return 700 * (10 ** (mel / 2595) - 1)
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    edges = to_hertz(np.linspace(to_mel(np.float64(f_min)), to_mel(np.float64(f_max)), n_mels + 2))
    bins = np.arange(n_fft // 2 + 1) * rate / n_fft
    up = (bins[None] - edges[:-2, None]) / np.diff(edges)[:-1, None]
    down = (edges[2:, None] - bins[None]) / np.diff(edges)[1:, None]
    bands = np.maximum(0, np.minimum(up, down))
    if norm == "slaney":
        bands *= (2 / (edges[2:] - edges[:-2]))[:, None]
    return spectrum @ bands.T


MELS: list[dict[str, Any]] = [
    {},
    {"n_mels": 40, "n_fft": 512, "hop_length": 128, "win_length": 400},
    {"mel_scale": "slaney", "norm": "slaney", "pad_mode": "constant"},
    {"mel_scale": "slaney", "norm": "none", "center": False},
    {"power": 1, "f_min": 80, "f_max": 7600, "n_fft": 1024, "hop_length": 256},
    {"n_mels": 128, "n_fft": 2048, "hop_length": 512, "rate": 22050, "norm": "slaney"},
    {"n_mels": 5, "n_fft": 30, "hop_length": 7, "rate": 8000},
]


def written(settings: dict[str, Any]) -> str:
    return "mel(" + ", ".join(f"{key}={str(value).lower()}" for key, value in settings.items()) + ")"


@pytest.mark.parametrize("settings", MELS, ids=[written(case) for case in MELS])
def test_mel_is_its_formula(extensions: dataline.Extensions, settings: dict[str, Any]) -> None:
    values = sound(1.0, 16000, 2).T.astype(np.float32)
    got = made_of(values, extensions, written(settings))
    for i in range(2):
        expected = mel_by_formula(values[i], **settings)
        assert got[i].shape == expected.shape
        assert np.abs(got[i] - expected).max() <= 2e-6 * expected.max()
        assert (np.abs(got[i] - expected) <= 2e-4 * expected + 1e-10).all()


def test_mel_in_logarithms_and_bands_first(extensions: dataline.Extensions) -> None:
    values = sound(0.5, 16000, 1).T.astype(np.float32)
    plain = mel_by_formula(values[0])
    cases = {
        "ln": np.log(np.maximum(plain, 1e-10)),
        "log10": np.log10(np.maximum(plain, 1e-10)),
        "db": 10 * np.log10(np.maximum(plain, 1e-10)),
    }
    for log, expected in cases.items():
        assert np.abs(made_of(values, extensions, f"mel(log={log})")[0] - expected).max() <= 2e-3
        turned = made_of(values, extensions, f"mel(log={log}, axes=FT)")[0]
        assert np.array_equal(turned, made_of(values, extensions, f"mel(log={log})")[0].T)
    magnitudes = 20 * np.log10(np.maximum(mel_by_formula(values[0], power=1), 1e-3))
    assert np.abs(made_of(values, extensions, "mel(power=1, log=db, floor=0.001)")[0] - magnitudes).max() <= 2e-3
    assert (made_of(np.zeros((1, 4000), np.float32), extensions, "mel(log=log10, floor=1e-5)") == -5).all()


@pytest.mark.filterwarnings("ignore")
def test_librosa_gives_the_same(tmp_path: Path, extensions: dataline.Extensions) -> None:
    librosa = pytest.importorskip("librosa", reason="librosa is not installed")
    for kind in ("wav i16", "flac i24", "opus", "mp3"):
        path = tmp_path / "class" / f"a.{KINDS[kind][2]}"
        uri = folder_of(tmp_path, {path.name: encoded(kind, sound(1.0, KINDS[kind][3], 2))})
        expected, _ = librosa.load(path, sr=16000)
        (got,) = rows_of(uri, extensions, "decode_audio")
        assert got.shape == expected.shape
        assert np.abs(got - expected).max() <= 1e-5
        mels = librosa.feature.melspectrogram(y=expected, sr=16000, n_fft=400, hop_length=160, n_mels=80)
        transform = "decode_audio, mel(80, mel_scale=slaney, norm=slaney, pad_mode=constant)"
        (got,) = rows_of(uri, extensions, transform)
        assert np.abs(got.T - mels).max() <= 1e-5 * mels.max()


@pytest.mark.filterwarnings("ignore")
def test_torchaudio_gives_the_same(extensions: dataline.Extensions) -> None:
    torchaudio = pytest.importorskip("torchaudio", reason="torchaudio is not installed")
    torch = pytest.importorskip("torch")
    values = sound(1.0, 16000, 2).T.astype(np.float32)
    for settings in (
        {},
        {"n_fft": 1024, "hop_length": 256, "win_length": 800, "norm": "slaney", "mel_scale": "slaney"},
    ):
        own = {"n_mels": 80, "n_fft": 400, "hop_length": 160, **settings}
        expected = torchaudio.transforms.MelSpectrogram(16000, **own)(torch.from_numpy(values)).numpy()
        got = made_of(values, extensions, written({"n_mels": 80, **settings})[:-1] + ", axes=FT)")
        assert got.shape == expected.shape
        assert np.abs(got - expected).max() <= 1e-5 * expected.max()
