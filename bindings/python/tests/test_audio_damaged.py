"""The plug-in libdataline-audio.so: files that are cut, damaged, or lie about themselves.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from audio_files import KINDS, encoded, folder_of, load_plugin, rows_of, sound


@pytest.fixture(scope="module")
def extensions() -> dataline.Extensions:
    return load_plugin()


def chunk(name: bytes, content: bytes, length: int = -1) -> bytes:
    return name + struct.pack("<I", len(content) if length < 0 else length) + content + bytes(len(content) % 2)


def wav_format(tag: int = 1, channels: int = 1, rate: int = 16000, bits: int = 16, frame: int = -1) -> bytes:
    frame = channels * bits // 8 if frame < 0 else frame
    return struct.pack("<HHIIHH", tag, channels, rate, rate * frame & 0xFFFFFFFF, frame, bits)


def wav(*chunks: bytes, riff: bytes = b"RIFF", kind: bytes = b"WAVE", length: int = -1) -> bytes:
    content = kind + b"".join(chunks)
    return riff + struct.pack("<I", len(content) if length < 0 else length) + content


def plain(format: bytes = wav_format(), content: bytes = bytes(3200), length: int = -1) -> bytes:
    return wav(chunk(b"fmt ", format), chunk(b"data", content, length))


def floats(*values: float) -> bytes:
    return plain(wav_format(3, bits=32), np.array(values, "<f4").tobytes())


def crc_of(page: bytes) -> int:
    crc = 0
    for byte in page:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return crc


def repaired(page: bytes) -> bytes:
    """A page of Ogg with the checksum that its bytes have."""
    page = page[:22] + bytes(4) + page[26:]
    return page[:22] + struct.pack("<I", crc_of(page)) + page[26:]


def ogg_page(packet: bytes, flags: int = 2) -> bytes:
    return repaired(b"OggS\0" + bytes([flags]) + bytes(20) + bytes([1, len(packet)]) + packet)


def made(kind: str, seconds: float = 0.3, channels: int = 1) -> bytes:
    return encoded(kind, sound(seconds, KINDS[kind][3], channels))


def changed(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def flac_info(rate: int = 44100, channels: int = 1, frames: int = 13230) -> Any:
    """Sets the numbers of STREAMINFO."""

    def change(content: bytes) -> bytes:
        packed = rate << 44 | (channels - 1) << 41 | 15 << 36 | frames
        return changed(content, 18, struct.pack(">Q", packed))

    return change


def bits_flipped(content: bytes, at: float) -> bytes:
    place = int(len(content) * at)
    return changed(content, place, bytes([content[place] ^ 0x55]))


# name: (suffix, bytes, code, what is said)
CASES: dict[str, tuple[str, Any, str, str]] = {
    "empty": ("wav", b"", "TRUNCATED", "the file is empty"),
    "one byte": ("wav", b"R", "UNSUPPORTED", "got 1 bytes that start with 52"),
    "text": ("wav", b"hello, world", "UNSUPPORTED", "expected WAV, FLAC, Ogg (Opus, Vorbis) or MP3"),
    "aiff": ("wav", b"FORM\0\0\0\x2eAIFF" + bytes(64), "UNSUPPORTED", "start with 46 4f 52 4d"),
    "au": ("wav", b".snd" + bytes(64), "UNSUPPORTED", "start with 2e 73 6e 64"),
    "avi": ("wav", wav(kind=b"AVI "), "UNSUPPORTED", "a RIFF file that is not WAVE"),
    "riff alone": ("wav", b"RIFF", "UNSUPPORTED", "not WAVE"),
    "no chunks": ("wav", wav(), "TRUNCATED", "no data chunk in 12 bytes"),
    "no data": ("wav", wav(chunk(b"fmt ", wav_format())), "TRUNCATED", "no data chunk"),
    "no format": ("wav", wav(chunk(b"data", bytes(100))), "CORRUPT", "no fmt chunk before the data"),
    "format cut": ("wav", wav(chunk(b"fmt ", wav_format()[:8], 16)), "TRUNCATED", "has 16 bytes, the file ends after 8"),
    "format short": ("wav", wav(chunk(b"fmt ", bytes(14)), chunk(b"data", bytes(8))), "CORRUPT", "fmt chunk of 14 bytes"),
    "no channels": ("wav", plain(wav_format(channels=0, frame=0)), "CORRUPT", "0 channels, expected 1 to 64"),
    "65 channels": ("wav", plain(wav_format(channels=65)), "TOO_LARGE", "65 channels, expected 1 to 64"),
    "65535 channels": ("wav", plain(wav_format(channels=65535, frame=2)), "TOO_LARGE", "65535 channels"),
    "rate 0": ("wav", plain(wav_format(rate=0)), "CORRUPT", "a rate of 0 Hz, expected 1000 to 768000"),
    "rate 999": ("wav", plain(wav_format(rate=999)), "CORRUPT", "a rate of 999 Hz"),
    "rate 4e9": ("wav", plain(wav_format(rate=4000000000)), "TOO_LARGE", "a rate of 4000000000 Hz"),
    "0 bits": ("wav", plain(wav_format(bits=0, frame=2)), "CORRUPT", "0 bits per sample"),
    "7 bits": ("wav", plain(wav_format(bits=7, frame=1)), "CORRUPT", "7 bits per sample"),
    "65528 bits": ("wav", plain(wav_format(bits=65528, frame=2)), "CORRUPT", "65528 bits per sample"),
    "frames of 0": ("wav", plain(wav_format(frame=0)), "CORRUPT", "frames of 0 bytes, expected 2 for 1 channels of 16"),
    "frames of 7": ("wav", plain(wav_format(frame=7)), "CORRUPT", "frames of 7 bytes"),
    "unknown codec": ("wav", plain(wav_format(tag=0x4242)), "", "WAV: "),
    "data cut": ("wav", plain()[:-100], "TRUNCATED", "has 3200 bytes, the file ends after 3100"),
    "data that lies": ("wav", plain(length=0x7FFFFFFF), "TRUNCATED", "has 2147483647 bytes, the file ends after 3200"),
    "chunk that lies": ("wav", wav(chunk(b"LIST", bytes(8), 0xFFFFFFF0)), "TRUNCATED", "at offset 12 has 4294967280 bytes"),
    "no samples": ("wav", plain(content=b""), "EMPTY", "no samples in it"),
    "rf64 without ds64": ("wav", b"RF64" + plain(content=bytes(8), length=0xFFFFFFFF)[4:], "EMPTY", "no samples"),
    "nan": ("wav", floats(0, 1, float("nan"), 0), "CORRUPT", "frame 2, channel 0 is nan, expected a finite number"),
    "infinity": ("wav", floats(0, float("-inf")), "CORRUPT", "frame 1, channel 0 is -inf"),
    "huge": ("wav", floats(0, 0, 3e38), "CORRUPT", "frame 2, channel 0 is 3e+38, expected a finite number, at most 2^31"),
    "flac head": ("flac", b"fLaC", "TRUNCATED", "FLAC: expected 42 bytes of headers, got 4"),
    "flac headers alone": ("flac", lambda: made("flac i16")[:42], "", "FLAC: "),
    "flac first block": ("flac", lambda: changed(made("flac i16"), 4, b"\4"), "CORRUPT", "first block is not STREAMINFO"),
    "flac block length": ("flac", lambda: changed(made("flac i16"), 5, b"\xff\xff\xff"), "CORRUPT", "not STREAMINFO"),
    "flac rate 0": ("flac", lambda: flac_info(rate=0)(made("flac i16")), "CORRUPT", "a rate of 0 Hz"),
    "flac frames that lie": ("flac", lambda: flac_info(frames=99999)(made("flac i16")), "TRUNCATED", "headers state 99999"),
    "flac bomb": ("flac", lambda: flac_info(frames=2**36 - 1)(made("flac i16")), "TOO_LARGE", "(max_bytes_per_sample"),
    "flac cut": ("flac", lambda: made("flac i16")[:-3000], "", "FLAC: "),
    "flac zeros": ("flac", lambda: made("flac i16")[:42] + bytes(9000), "", "FLAC: "),
    "flac damage": ("flac", lambda: bits_flipped(made("flac i16"), 0.7), "CORRUPT", "FLAC: after"),
    "ogg head": ("ogg", b"OggS", "TRUNCATED", "the page at offset 0 has at least 27 bytes, the file ends after 4"),
    "ogg nothing known": ("ogg", ogg_page(b"\x80theora" + bytes(40)), "UNSUPPORTED", "expected Opus or Vorbis in it"),
    "ogg opus head": ("ogg", ogg_page(b"OpusHead\1\1"), "TRUNCATED", "an Opus header of 10 bytes, expected 19"),
    "ogg opus channels": ("ogg", ogg_page(b"OpusHead\1\0" + bytes(20)), "CORRUPT", "0 channels"),
    "ogg vorbis head": ("ogg", ogg_page(b"\1vorbis"), "TRUNCATED", "a Vorbis header of 7 bytes"),
    "ogg vorbis rate": ("ogg", ogg_page(b"\1vorbis" + bytes(4) + b"\2" + bytes(18)), "CORRUPT", "a rate of 0 Hz"),
    "ogg one page": ("ogg", ogg_page(b"OpusHead\1\1" + bytes(2) + struct.pack("<I", 48000) + bytes(3)), "", "Ogg: "),
    "ogg checksum": ("ogg", changed(ogg_page(bytes(30)), 22, bytes(4)), "CORRUPT", "wrong checksum of the page at offset 0"),
    "opus cut": ("opus", lambda: made("opus")[:-50], "TRUNCATED", "bytes, the file ends after"),
    "opus damage": ("opus", lambda: bits_flipped(made("opus"), 0.8), "CORRUPT", "wrong checksum of the page"),
    "opus and junk": ("opus", lambda: made("opus") + b"junk", "CORRUPT", "no page at offset"),
    "vorbis cut": ("ogg", lambda: made("vorbis")[:-9], "TRUNCATED", "the file ends after"),
    "vorbis damage": ("ogg", lambda: bits_flipped(made("vorbis"), 0.9), "CORRUPT", "wrong checksum of the page"),
    "id3 cut": ("mp3", b"ID3\4\0\0", "TRUNCATED", "ID3 tag: expected 10 bytes, got 6"),
    "id3 that lies": ("mp3", b"ID3\4\0\0\x7f\x7f\x7f\x7f" + bytes(100), "TRUNCATED", "ID3 tag of 268435465 bytes"),
    "id3 byte": ("mp3", b"ID3\4\0\0\xff\0\0\0" + bytes(100), "CORRUPT", "its length has a byte of 255"),
    "id3 alone": ("mp3", b"ID3\4\0\0\0\0\0\x0a" + bytes(10), "UNSUPPORTED", "expected WAV, FLAC"),
    "id3 and aiff": ("mp3", b"ID3\4\0\0\0\0\0\0FORM\0\0\0\x2eAIFF" + bytes(64), "UNSUPPORTED", "expected WAV, FLAC"),
    "mp3 sync alone": ("mp3", b"\xff\xfb", "CORRUPT", "MP3: no frame at the start"),
    "mp3 bad rate": ("mp3", b"\xff\xfb\x9c\xc0" + bytes(1000), "CORRUPT", "no frame at the start"),
    "mp3 bad bitrate": ("mp3", b"\xff\xfb\xf0\xc0" + bytes(1000), "CORRUPT", "no frame at the start"),
    "mp3 bad layer": ("mp3", b"\xff\xf9\x90\xc0" + bytes(1000), "CORRUPT", "no frame at the start"),
    "mp3 head": ("mp3", lambda: made("mp3")[:100], "TRUNCATED", "MP3: frame 0 has"),
    "mp3 cut": ("mp3", lambda: made("mp3")[:-20], "TRUNCATED", "bytes, the file ends after"),
    "mp3 without its end": ("mp3", lambda: without_frames(made("mp3"), 4), "TRUNCATED", "frames, its header states"),
    "mp3 junk inside": ("mp3", lambda: with_junk(made("mp3")), "CORRUPT", "no frame at offset"),
}  # fmt: skip


def frame_starts(content: bytes) -> list[int]:
    """Of MPEG-1 layer 3 at 44.1 kHz, as written here."""
    rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    at = 0
    starts = []
    while at + 4 <= len(content) and content[at] == 0xFF:
        starts.append(at)
        at += 144 * rates[content[at + 2] >> 4] * 1000 // 44100 + (content[at + 2] >> 1 & 1)
    return starts


def without_frames(content: bytes, count: int) -> bytes:
    return content[: frame_starts(content)[-count]]


def with_junk(content: bytes) -> bytes:
    return changed(content, frame_starts(content)[3], b"\0\1\2\3")


@pytest.mark.parametrize("name", CASES)
def test_a_bad_file_is_named_with_its_reason(tmp_path: Path, extensions: dataline.Extensions, name: str) -> None:
    suffix, content, _, says = CASES[name]
    uri = folder_of(tmp_path, {f"bad.{suffix}": content() if callable(content) else content})
    with pytest.raises(dataline.Error) as caught:
        rows_of(uri, extensions, "decode_audio")
    message = str(caught.value)
    assert f"class/bad.{suffix}: " in message, message
    assert "decode_audio: " in message or not content, message
    assert says in message, message


def test_codes(tmp_path: Path, extensions: dataline.Extensions) -> None:
    for suffix, content, code, _ in CASES.values():
        if not code:
            continue
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        uri = folder_of(
            folder, {f"bad.{suffix}": content() if callable(content) else content, f"good.{suffix}": made("flac i16")}
        )
        loader = dataline.Loader(
            uri, extensions=extensions, transform="image: decode_audio", on_error="quarantine", batch_size=2, epochs=1
        )  # fmt: skip
        for batch in loader:
            assert batch.info.samples == 2
        (bad,) = loader.bad_samples()
        assert bad.name == f"DL_ERR_{code}", bad


# ---- What is accepted ----


def test_a_wav_of_unknown_length_is_read_to_its_end(tmp_path: Path, extensions: dataline.Extensions) -> None:
    content = (np.arange(1600) - 800).astype("<i2")
    uri = folder_of(tmp_path, {"a.wav": plain(content=content.tobytes(), length=0xFFFFFFFF)})
    (got,) = rows_of(uri, extensions, "decode_audio")
    assert np.array_equal(got, content.astype(np.float32) / 32768)


def test_other_chunks_and_the_size_of_riff_do_not_matter(tmp_path: Path, extensions: dataline.Extensions) -> None:
    parts = (
        chunk(b"LIST", b"odd"),
        chunk(b"fmt ", wav_format()),
        chunk(b"junk", bytes(64)),
        chunk(b"data", bytes(200)),
        chunk(b"id3 ", bytes(9)),
    )
    for length in (-1, 0, 100, 0xFFFFFFFF):
        uri = folder_of(tmp_path, {"a.wav": wav(*parts, length=length)})
        assert [len(row) for row in rows_of(uri, extensions, "decode_audio")] == [100]


def test_tags_before_and_behind(tmp_path: Path, extensions: dataline.Extensions) -> None:
    tag = b"ID3\4\0\0\0\0\1\0" + bytes(128)
    for kind in ("mp3", "flac i16"):
        plain_file = made(kind)
        behind = b"TAG" + bytes(125) if kind == "mp3" else b""
        uri = folder_of(tmp_path / kind, {"a.mp3": plain_file, "b.mp3": tag + tag + plain_file + behind})
        first, second = rows_of(uri, extensions, "decode_audio")
        assert np.array_equal(first, second)


def test_floats_beyond_one_are_delivered_as_they_are(tmp_path: Path, extensions: dataline.Extensions) -> None:
    uri = folder_of(tmp_path, {"a.wav": floats(0, 1.5, -7, 2e9)})
    (got,) = rows_of(uri, extensions, "decode_audio")
    assert np.array_equal(got, np.array([0, 1.5, -7, 2e9], np.float32))


# ---- Limits ----


def test_a_bomb_stops_at_the_limit(tmp_path: Path, extensions: dataline.Extensions) -> None:
    """Ten minutes of silence in a few kilobytes: refused by its declared length, or while it is decoded."""
    content = encoded("flac i16", np.zeros((44100 * 600, 1), np.int16))
    assert len(content) < 200_000
    for file in (content, flac_info(frames=0)(content)):
        uri = folder_of(tmp_path, {"a.flac": file})
        with pytest.raises(dataline.Error, match=r"sample needs \d+ bytes, at most 1048576 \(max_bytes_per_sample"):
            rows_of(uri, extensions, "decode_audio", max_bytes_per_sample="1MiB")
        with pytest.raises(dataline.Error, match="s or more, max_seconds is 10"):
            rows_of(uri, extensions, "decode_audio(max_seconds=10)", max_bytes_per_sample="1MiB")


def test_the_largest_file_that_fits(tmp_path: Path, extensions: dataline.Extensions) -> None:
    uri = folder_of(tmp_path, {"a.wav": encoded("wav i16", sound(1, 16000), 16000)})
    assert len(rows_of(uri, extensions, "decode_audio(max_seconds=1)")[0]) == 16000
    assert len(rows_of(uri, extensions, "decode_audio", max_bytes_per_sample=64000)[0]) == 16000
    with pytest.raises(dataline.Error, match="sample needs 64000 bytes, at most 63996"):
        rows_of(uri, extensions, "decode_audio", max_bytes_per_sample=63996)
    with pytest.raises(dataline.Error, match=r"max_seconds is 0\.9"):
        rows_of(uri, extensions, "decode_audio(max_seconds=0.9)")


def test_pieces_of_files_that_lie(tmp_path: Path, extensions: dataline.Extensions) -> None:
    """What a piece needs is decoded, and no more; what is missing of it is seen."""
    content = made("flac i16", 1.0)
    longer = flac_info(frames=88200)(content)
    uri = folder_of(tmp_path / "a", {"a.flac": longer})
    assert len(rows_of(uri, extensions, "decode_audio(44100, seconds=0.9)")[0]) == 39690
    with pytest.raises(dataline.Error, match="FLAC: 44100 frames, its headers state 88200"):
        rows_of(uri, extensions, "decode_audio(44100, seconds=1.5)")
    uri = folder_of(tmp_path / "b", {"a.flac": flac_info(frames=0)(content)})
    assert len(rows_of(uri, extensions, "decode_audio(44100, seconds=0.9)")[0]) == 39690
    with pytest.raises(dataline.Error, match="headers do not state its length"):
        rows_of(uri, extensions, "decode_audio(44100, seconds=0.5, random=true)")


def test_the_wrong_number_of_channels(tmp_path: Path, extensions: dataline.Extensions) -> None:
    uri = folder_of(tmp_path, {"a.wav": made("wav i16", channels=1), "b.flac": made("flac i16", channels=2)})
    with pytest.raises(dataline.Error, match=r"a\.wav.*WAV: 1 channels, expected 2 \(channels, or mono=true\)"):
        rows_of(uri, extensions, "decode_audio(mono=false, channels=2)")


@pytest.mark.parametrize("transform", ["decode_audio, crop(0.1)", "decode_audio(seconds=0.03, random=true)"])
@pytest.mark.parametrize("kind", ["wav i16", "wav adpcm", "flac i16", "vorbis", "opus", "mp3"])
def test_whatever_is_damaged_nothing_crashes(
    tmp_path: Path, extensions: dataline.Extensions, kind: str, transform: str
) -> None:
    """Cuts and flips: rows of finite numbers, or an error that names the file. One bad file of a hundred stops none."""
    draw = random.Random(kind)
    content = made(kind, 0.1)
    suffix = KINDS[kind][2]
    files = {}
    for i in range(120):
        damaged = bytearray(content)
        for _ in range(draw.choice([1, 2, 8])):
            damaged[draw.randrange(min(len(content), draw.choice([64, 512, len(content)])))] = draw.randrange(256)
        files[f"{i:03}.{suffix}"] = bytes(damaged if i % 4 else content[: draw.randrange(len(content))])
        files[f"good-{i}.{suffix}"] = content
    loader = dataline.Loader(
        folder_of(tmp_path, files), extensions=extensions, transform=f"image: {transform}", batch_size=8,
        on_error="quarantine", epochs=1, num_workers=2, max_bytes_per_sample="4MiB",
    )  # fmt: skip
    rows = sum(batch.info.samples for batch in loader if np.isfinite(batch["image"]).all())
    assert rows == 240
    bad = loader.bad_samples()
    assert bad
    assert all(f".{suffix}: field" in sample.message for sample in bad)
