"""The plug-in libdataline-audio.so: samples as soundfile and soxr give them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from audio_files import KINDS, encoded, folder_of, load_plugin, made_of, rows_of, sf, sound


@pytest.fixture(scope="module")
def extensions() -> dataline.Extensions:
    return load_plugin()


def reference(content: bytes) -> Any:
    return sf.read(io.BytesIO(content), dtype="float32", always_2d=True)


# ---- decode_audio ----


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_those_of_soundfile(tmp_path: Path, extensions: dataline.Extensions, kind: str) -> None:
    content = encoded(kind, sound(0.7, KINDS[kind][3], 2))
    expected, rate = reference(content)
    uri = folder_of(tmp_path, {f"a.{KINDS[kind][2]}": content})
    (got,) = rows_of(uri, extensions, f"decode_audio(rate={rate}, mono=false, channels=2)")
    # Exactly, where nothing is lost; else to within what versions of a decoder differ by.
    bound = 0 if kind.startswith(("wav", "rf64", "flac")) else 1e-5
    assert got.dtype == np.float32
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= bound
    (mono,) = rows_of(uri, extensions, f"decode_audio(rate={rate})")
    assert np.abs(mono - expected.mean(1)).max() <= bound


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_every_length_of_every_encoding(tmp_path: Path, extensions: dataline.Extensions, channels: int) -> None:
    """Odd chunks, blocks of ADPCM, one sample, one block of the decoder and one more: as many as soundfile reads."""
    encodings = [("WAV", name) for name in ("PCM_U8", "PCM_24", "FLOAT", "ALAW")] + [
        ("FLAC", "PCM_S8"),
        ("WAVEX", "PCM_16"),
    ]
    encodings += [("WAV", "IMA_ADPCM"), ("WAV", "MS_ADPCM"), ("OGG", "VORBIS"), ("OGG", "OPUS")] if channels < 3 else []
    encodings += [("MP3", "MPEG_LAYER_III")] if channels < 3 else []
    expected = {}
    for container, subtype in encodings:
        for length in (1, 3, 1001, 4096, 4097):
            out = io.BytesIO()
            sf.write(out, sound(0.3, 16000, channels)[:length], 16000, format=container, subtype=subtype)
            expected[f"{container}-{subtype}-{length:04}.wav"] = out.getvalue()
    uri = folder_of(tmp_path, expected)
    rows = rows_of(uri, extensions, f"decode_audio(mono=false, channels={channels})", num_workers=0)
    for (name, content), row in zip(sorted(expected.items()), rows):
        samples, _ = reference(content)
        assert row.shape == samples.shape, name
        assert np.abs(row - samples).max() <= 1e-5, name


@pytest.mark.parametrize("mode", ["CONSTANT", "AVERAGE", "VARIABLE"])
def test_mp3_of_every_rate(tmp_path: Path, extensions: dataline.Extensions, mode: str) -> None:
    for rate in (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000):
        out = io.BytesIO()
        samples = sound(0.3, rate, 2)
        sf.write(out, samples, rate, format="MP3", subtype="MPEG_LAYER_III", bitrate_mode=mode, compression_level=0.4)
        (got,) = rows_of(folder_of(tmp_path, {"a.mp3": out.getvalue()}), extensions, f"decode_audio({rate})")
        assert np.abs(got - reference(out.getvalue())[0].mean(1)).max() <= 1e-5, rate


@pytest.mark.parametrize("quality", ["qq", "lq", "mq", "hq", "vhq"])
@pytest.mark.parametrize("kind", ["wav i16", "flac i24", "opus", "mp3", "wav ulaw"])
def test_rates_are_those_of_soxr(tmp_path: Path, extensions: dataline.Extensions, kind: str, quality: str) -> None:
    soxr = pytest.importorskip("soxr", reason="soxr, which resamples, is not installed")
    content = encoded(kind, sound(0.5, KINDS[kind][3], 2))
    samples, rate = reference(content)
    uri = folder_of(tmp_path, {f"a.{KINDS[kind][2]}": content})
    for wanted in (16000, 8000, 22050):
        (got,) = rows_of(uri, extensions, f"decode_audio({wanted}, quality={quality})")
        expected = soxr.resample(samples.mean(1), rate, wanted, quality=quality)
        assert len(got) == -(-len(samples) * wanted // rate)
        assert abs(len(got) - len(expected)) <= 1
        assert np.abs(got[: len(expected)] - expected[: len(got)]).max() <= 1e-5


def test_several_channels(tmp_path: Path, extensions: dataline.Extensions) -> None:
    samples = sound(0.2, 44100, 6)
    uri = folder_of(tmp_path, {"a.wav": encoded("wav f32", samples)})
    (got,) = rows_of(uri, extensions, "decode_audio(44100, mono=false, channels=6)")
    assert np.array_equal(got, samples.astype(np.float32))
    (mono,) = rows_of(uri, extensions, "decode_audio(44100)")
    assert np.abs(mono - samples.mean(1)).max() <= 1e-6


def mixed_files() -> dict[str, bytes]:
    kinds = ["wav i16", "flac i16", "vorbis", "opus", "mp3", "wav ulaw"]
    files = {}
    for i in range(18):
        kind = kinds[i % len(kinds)]
        files[f"{i:02}.{KINDS[kind][2]}"] = encoded(kind, sound(0.1 + 0.02 * i, KINDS[kind][3], 1 + i % 2, i))
    return files


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_do_not_depend_on_workers(tmp_path: Path, extensions: dataline.Extensions, shuffle: bool) -> None:
    uri = folder_of(tmp_path, mixed_files())
    transform = "decode_audio, crop(0.1, random=true), mel(20, log=db)"
    runs = []
    for workers in range(4):
        rows = rows_of(uri, extensions, transform, shuffle=shuffle, seed=7, num_workers=workers, epochs=2)
        assert {row.shape for row in rows} == {(11, 20)}
        runs.append(np.stack(rows))
    assert all(np.array_equal(run, runs[0]) for run in runs)
    half = len(runs[0]) // 2
    assert not np.array_equal(runs[0][:half], runs[0][half:])  # the next epoch crops elsewhere


def test_a_tar_has_the_same_samples(tmp_path: Path, extensions: dataline.Extensions) -> None:
    files = {f"{i:03}.flac": encoded("flac i16", sound(0.1, 44100, 2, i)) for i in range(5)}
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    from_tar = rows_of(f"tar:{tmp_path / 'a.tar'}", extensions, "decode_audio", field="flac")
    from_folder = rows_of(folder_of(tmp_path / "f", files), extensions, "decode_audio")
    assert len(from_tar) == 5
    assert all(np.array_equal(a, b) for a, b in zip(from_tar, from_folder))


def test_columns_of_tables_are_decoded(tmp_path: Path, extensions: dataline.Extensions) -> None:
    """As Hugging Face datasets keeps audio: a struct of bytes and a path."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow, which writes the table, is not installed")
    files = {f"{i:03}.{KINDS[kind][2]}": encoded(kind, sound(0.1, KINDS[kind][3])) for i, kind in enumerate(KINDS)}
    table = pa.table({"audio": pa.array([{"bytes": content, "path": name} for name, content in files.items()])})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    rows = rows_of(f"arrow:{tmp_path / 'a.arrow'}", extensions, "decode_audio", field="audio/bytes")
    expected = rows_of(folder_of(tmp_path / "f", files), extensions, "decode_audio")
    assert len(rows) == len(files)
    assert all(np.array_equal(a, b) for a, b in zip(rows, expected))


def test_lengths_vary_until_they_are_made_equal(tmp_path: Path, extensions: dataline.Extensions) -> None:
    files = {f"{i}.wav": encoded("wav f32", sound(0.1 * (i + 1), 16000, 1, i), 16000) for i in range(3)}
    uri = folder_of(tmp_path, files)
    assert [len(row) for row in rows_of(uri, extensions, "decode_audio")] == [1600, 3200, 4800]
    padded = rows_of(uri, extensions, "decode_audio, pad_to(5000)")
    assert {row.shape for row in padded} == {(5000,)}
    assert not padded[0][1600:].any()
    assert [row.shape for row in rows_of(uri, extensions, "decode_audio, mel(40)")] == [(11, 40), (21, 40), (31, 40)]


def test_a_saved_state_resumes_with_the_same_crops(tmp_path: Path, extensions: dataline.Extensions) -> None:
    uri = folder_of(tmp_path, mixed_files())

    def loader() -> dataline.Loader:
        return dataline.Loader(
            uri, extensions=extensions, transform="image: decode_audio, crop(0.05, random=true)", batch_size=2,
            shuffle=True, seed=3, epochs=1,
        )  # fmt: skip

    whole = [np.array(batch["image"]) for batch in loader()]
    first = loader()
    steps = iter(first)
    head = [np.array(next(steps)["image"]) for _ in range(4)]
    second = loader()
    second.load_state_dict(first.state_dict())
    rest = [np.array(batch["image"]) for batch in second]
    assert all(np.array_equal(a, b) for a, b in zip(head + rest, whole))
    assert len(head + rest) == len(whole)


# ---- resample, crop ----


def test_resample(extensions: dataline.Extensions) -> None:
    soxr = pytest.importorskip("soxr", reason="soxr, which resamples, is not installed")
    values = sound(0.5, 16000, 3).T.astype(np.float32)
    for wanted in (8000, 11025, 44100, 48000):
        got = made_of(values, extensions, f"resample({wanted}, from=16000)")
        assert got.shape == (3, -(-8000 * wanted // 16000))
        for i in range(3):
            expected = soxr.resample(values[i], 16000, wanted)
            count = min(len(expected), got.shape[1])
            assert np.abs(got[i, :count] - expected[:count]).max() <= 1e-5
    assert np.array_equal(made_of(values, extensions, "resample(16000, from=16000)"), values)


def test_crop_takes_the_first_seconds_or_any(extensions: dataline.Extensions) -> None:
    values = np.tile(np.arange(1000, dtype=np.float32), (400, 1))
    assert np.array_equal(made_of(values, extensions, "crop(0.1, rate=1000)"), values[:, :100])
    drawn = made_of(values, extensions, "crop(0.1, rate=1000, random=true)", seed=1)
    starts = drawn[:, 0].astype(int)
    assert np.array_equal(drawn, starts[:, None] + np.arange(100))
    assert 0 <= starts.min() < 50
    assert 850 < starts.max() <= 900
    assert len(set(starts)) > 250
    assert np.array_equal(made_of(values, extensions, "crop(0.1, rate=1000, random=true)", seed=1), drawn)
    assert not np.array_equal(made_of(values, extensions, "crop(0.1, rate=1000, random=true)", seed=2), drawn)


def test_crop_of_what_is_shorter(extensions: dataline.Extensions) -> None:
    values = np.arange(1, 11, dtype=np.float32)[None]
    padded = made_of(values, extensions, "crop(0.025, rate=1000)")[0]
    assert np.array_equal(padded, np.concatenate([values[0], np.zeros(15)]))
    repeated = made_of(values, extensions, "crop(0.025, rate=1000, short=repeat)")[0]
    assert np.array_equal(repeated, np.resize(values[0], 25))
    with pytest.raises(dataline.Error, match="10 samples, expected at least 25"):
        made_of(values, extensions, "crop(0.025, rate=1000, short=error)")


def test_crop_and_resample_of_channels(tmp_path: Path, extensions: dataline.Extensions) -> None:
    samples = sound(0.3, 44100, 2).astype(np.float32)
    uri = folder_of(tmp_path, {"a.wav": encoded("wav f32", samples)})
    decode = "decode_audio(44100, mono=false, channels=2)"
    (got,) = rows_of(uri, extensions, f"{decode}, crop(0.1, rate=44100)")
    assert np.array_equal(got, samples[:4410])
    (direct,) = rows_of(uri, extensions, "decode_audio(16000, mono=false, channels=2)")
    (later,) = rows_of(uri, extensions, f"{decode}, resample(16000, from=44100)")
    (cropped,) = rows_of(uri, extensions, f"{decode}, crop(0.3, rate=44100), resample(16000, from=44100)")
    assert np.array_equal(direct, later)
    assert np.array_equal(direct, cropped)


# ---- Pieces ----


@pytest.mark.parametrize("kind", ["wav i16", "wav f32", "flac i24", "vorbis", "opus", "mp3"])
def test_a_piece_is_that_of_the_whole(tmp_path: Path, extensions: dataline.Extensions, kind: str) -> None:
    """At the file's own rate, wherever it begins: exactly where the decoder has no memory, else as near as a seek comes."""
    suffix, rate = KINDS[kind][2:]
    content = encoded(kind, sound(3, rate, 2, 5))
    uri = folder_of(tmp_path, {f"{i:02}.{suffix}": content for i in range(16)})
    whole = rows_of(uri, extensions, f"decode_audio({rate})", batch_size=1)[0]
    (first,) = rows_of(uri, extensions, f"decode_audio({rate}, seconds=0.5)", sample_indices=np.array([3]))
    assert np.array_equal(first, whole[: rate // 2])
    pieces = rows_of(uri, extensions, f"decode_audio({rate}, seconds=0.5, random=true)", seed=4)
    assert {len(piece) for piece in pieces} == {rate // 2}
    starts = []
    windows = np.lib.stride_tricks.sliding_window_view(whole, 20)
    for piece in pieces:
        distance = np.abs(windows - piece[4000:4020]).max(1)
        starts.append(int(distance.argmin()) - 4000)
        at = whole[starts[-1] : starts[-1] + rate // 2]
        assert np.abs(at - piece).max() <= (0.02 if kind == "mp3" else 0)
    assert len(set(starts)) > 12
    assert min(starts) < rate // 2
    assert max(starts) > 2 * rate


def test_a_piece_at_another_rate_is_that_of_librosa(tmp_path: Path, extensions: dataline.Extensions) -> None:
    """librosa.load(duration=): the piece of the file is resampled by itself."""
    soxr = pytest.importorskip("soxr", reason="soxr, which resamples, is not installed")
    samples = sound(2, 44100, 1).astype(np.float32)
    uri = folder_of(tmp_path, {"a.wav": encoded("wav f32", samples)})
    (got,) = rows_of(uri, extensions, "decode_audio(16000, seconds=0.5)")
    expected = soxr.resample(samples[:22050, 0], 44100, 16000)
    assert got.shape == (8000,)
    assert np.abs(got[: len(expected)] - expected).max() <= 1e-5
    for wanted, rate in ((100, 48000), (101, 11025), (1, 8000), (7777, 96000)):
        (got,) = rows_of(uri, extensions, f"decode_audio({rate}, seconds={wanted / rate}, short=error)")
        assert got.shape == (wanted,)


def test_a_piece_of_what_is_shorter(tmp_path: Path, extensions: dataline.Extensions) -> None:
    samples = sound(0.1, 16000, 2).astype(np.float32)
    uri = folder_of(tmp_path, {"a.wav": encoded("wav f32", samples, 16000)})
    decode = "decode_audio(mono=false, channels=2, seconds=0.25, random=true"
    (padded,) = rows_of(uri, extensions, f"{decode})")
    assert np.array_equal(padded, np.concatenate([samples, np.zeros((2400, 2))]))
    (repeated,) = rows_of(uri, extensions, f"{decode}, short=repeat)")
    assert np.array_equal(repeated, np.resize(samples, (4000, 2)))
    with pytest.raises(dataline.Error, match="WAV: 1600 samples at 16000 Hz, expected at least 4000"):
        rows_of(uri, extensions, f"{decode}, short=error)")


# ---- Arguments ----


@pytest.mark.parametrize(
    ("transform", "says"),
    [
        ("decode_audio(rate=5)", "rate: expected a whole number from 1000 to 768000, got 5"),
        ("decode_audio(16000.5)", "rate: expected a whole number"),
        ("decode_audio(rate=none)", "rate: expected a whole number"),
        ("decode_audio(mono=maybe)", "mono: expected false or true, got maybe"),
        ("decode_audio(mono=false)", "mono: expected channels=N with mono=false"),
        ("decode_audio(channels=2)", "channels: expected mono=false"),
        ("decode_audio(mono=false, channels=65)", "channels: expected a whole number from 1 to 64"),
        ("decode_audio(max_seconds=0)", "max_seconds: expected a number from 0.001"),
        ("decode_audio(seconds=0)", "seconds: expected at least one sample"),
        ("decode_audio(random=true)", "random: expected seconds=S with it"),
        ("decode_audio(short=error)", "short: expected seconds=S with it"),
        ("decode_audio(quality=best)", "quality: expected qq, lq, mq, hq or vhq, got best"),
        ("decode_audio, decode_audio", "expected the bytes of files, ragged u8, got ragged f32[?]"),
        ("resample(8000, from=16000)", "expected samples of f32, got ragged u8[?]; put decode_audio before"),
        ("mel", "put decode_audio before"),
        ("decode_audio, cast(f64), mel", "expected samples of f32, got ragged f64[?]"),
        ("decode_audio, crop", "expected a value for seconds"),
        ("decode_audio, crop(0)", "seconds: expected at least one sample"),
        ("decode_audio, crop(-1)", "seconds: expected a number from 0"),
        ("decode_audio, crop(1, short=loop)", "short: expected pad, repeat or error, got loop"),
        ("decode_audio, resample(8000)", "expected a value for from"),
        ("decode_audio, mel(0)", "n_mels: expected a whole number from 1 to 4096"),
        ("decode_audio, mel(n_fft=401)", "n_fft: expected an even number"),
        ("decode_audio, mel(win_length=401)", "win_length: expected a whole number from 1 to 400"),
        ("decode_audio, mel(f_max=9000)", "f_max: expected a number from 0 to 8000, got 9000"),
        ("decode_audio, mel(f_min=900, f_max=800)", "f_min: expected less than f_max=800"),
        ("decode_audio, mel(power=3)", "power: expected a whole number from 1 to 2"),
        ("decode_audio, mel(log=dB)", "log: expected none, ln, log10 or db, got dB"),
        ("decode_audio, mel(axes=FT)", "axes: expected TF, because the samples vary in length"),
        ("decode_audio, crop(0.01), mel", "expected at least 201 samples for n_fft=400, got 160"),
        ("decode_audio(mono=false, channels=2), mel", "expected one channel, got ragged f32[?x2]"),
    ],
)
def test_wrong_arguments(tmp_path: Path, extensions: dataline.Extensions, transform: str, says: str) -> None:
    uri = folder_of(tmp_path, {"a.wav": encoded("wav i16", sound(0.1, 44100))})
    with pytest.raises(dataline.Error) as caught:
        rows_of(uri, extensions, transform)
    assert says in str(caught.value), caught.value
    assert caught.value.name == "DL_ERR_BAD_TRANSFORM"


def test_two_dims_without_axes_are_refused(extensions: dataline.Extensions) -> None:
    with pytest.raises(dataline.Error, match=r"f32\[time x channels\] with axes TC, got f32\[2x100\]"):
        made_of(np.zeros((1, 2, 100), np.float32), extensions, "crop(0.01, rate=1000)")


def test_the_operators_are_listed(extensions: dataline.Extensions) -> None:
    names = [row.name for row in dataline.transform_table(extensions)]
    assert names[-4:] == ["decode_audio", "resample", "crop", "mel"]
