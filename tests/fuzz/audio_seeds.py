"""Audio files as seeds: small files of each kind, and where soundfile is installed some that it writes.

SPDX-License-Identifier: Apache-2.0
"""

import random
import struct


def chunk(name, content):
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def wav(tag, channels, rate, bits, data):
    frame = channels * bits // 8
    content = b"WAVE" + chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits))
    return chunk(b"RIFF", content + chunk(b"LIST", b"INFO") + chunk(b"data", data))


def flac(constants):
    """Frames of 4096 samples, each of one value: 16 bits, mono, 44.1 kHz."""

    def crc(data, bits, polynomial):
        value = 0
        for byte in data:
            value ^= byte << bits - 8
            for _ in range(8):
                value = (value << 1 ^ (polynomial if value >> bits - 1 else 0)) & (1 << bits) - 1
        return value

    info = struct.pack(">HH", 4096, 4096) + bytes(6) + struct.pack(">Q", 44100 << 44 | 15 << 36 | 4096 * len(constants))
    out = b"fLaC" + struct.pack(">I", 0x80000000 | 34) + info + bytes(16)
    for number, value in enumerate(constants):
        head = bytes([0xFF, 0xF8, 0xC9, 0x08, number])
        head += bytes([crc(head, 8, 0x07)])
        frame = head + b"\0" + struct.pack(">h", value)
        out += frame + struct.pack(">H", crc(frame, 16, 0x8005))
    return out


def page(packets, number, granule, flags):
    lengths = bytes(len(packet) for packet in packets)
    head = b"OggS\0" + bytes([flags]) + struct.pack("<qII", granule, 7, number)
    rest = bytes([len(lengths)]) + lengths + b"".join(packets)
    crc = 0
    for byte in head + bytes(4) + rest:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return head + struct.pack("<I", crc) + rest


def opus(packets):
    """Packets of 20 ms."""
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 48000, 0, 0)
    tags = b"OpusTags" + struct.pack("<I4sI", 4, b"seed", 0)
    pages = [page([head], 0, 0, 2), page([tags], 1, 0, 0), page(packets, 2, 960 * len(packets), 4)]
    return b"".join(pages)


def mp3(count, head):
    """Frames of silence: MPEG-1 layer 3, 44.1 kHz, mono, 128 kbit/s."""
    return (head + bytes(413)) * count


def seeds():
    draw = random.Random(1)
    noise = draw.randbytes(1600)
    files = {
        "i16.wav": wav(1, 1, 16000, 16, noise),
        "u8.wav": wav(1, 2, 8000, 8, noise),
        "i24.wav": wav(1, 1, 48000, 24, noise[:1500]),
        "f32.wav": wav(3, 1, 44100, 32, struct.pack("<100f", *(draw.uniform(-1, 1) for _ in range(100)))),
        "ulaw.wav": wav(7, 1, 8000, 8, noise),
        "big.wav": b"RIFX" + struct.pack(">I", 36 + 64) + b"WAVEfmt " + struct.pack(">IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16)
        + b"data" + struct.pack(">I", 64) + noise[:64],
        "two.flac": flac([100, -3000]),
        "silence.opus": opus([b"\xf8\xff\xfe"] * 5),
        "noise.opus": opus([b"\xf8" + draw.randbytes(40) for _ in range(5)]),
        "speech.opus": opus([b"\x08" + draw.randbytes(30) for _ in range(5)]),
        "silence.mp3": mp3(4, b"\xff\xfb\x90\xc4"),
        "tagged.mp3": b"ID3\4\0\0\0\0\0\x10" + bytes(16) + mp3(3, b"\xff\xfb\x90\xc4") + b"TAG" + bytes(125),
    }  # fmt: skip
    try:
        import io

        import numpy
        import soundfile

        for suffix, subtype in (("flac", "PCM_16"), ("ogg", "VORBIS"), ("ogg", "OPUS"), ("mp3", "MPEG_LAYER_III")):
            out = io.BytesIO()
            tones = numpy.sin(numpy.arange(3200)[:, None] * [0.1, 0.3]) * 0.5
            soundfile.write(out, tones, 16000, format=suffix.upper(), subtype=subtype)
            files[f"written-{subtype}.{suffix}"] = out.getvalue()
    except ImportError:
        pass
    yield from files.items()
