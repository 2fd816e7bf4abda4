"""Files whose orientation is stated by XMP, by PNG's raw Exif profile, or by several of these that differ.

SPDX-License-Identifier: Apache-2.0
"""

import io
import struct
import zlib

import PIL

import image_suite

# Older releases read XMP of PNG alone.
READS_ALL_XMP = int(PIL.__version__.split(".")[0]) >= 12
ATTRIBUTE = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="{}"/></x:xmpmeta>'
ELEMENT = "<x:xmpmeta><rdf:Description><tiff:Orientation>{}</tiff:Orientation></rdf:Description></x:xmpmeta>"


def text(name, keyword, value):
    return image_suite.chunk(name, keyword.encode() + b"\0" + value)


def raw_profile(orientation, title="exif"):
    """As ImageMagick writes it."""
    data = image_suite.exif_of(orientation)
    digits = data.hex()
    lines = [digits[i:i + 72] for i in range(0, len(digits), 72)]
    return f"\n{title}\n{len(data):8d}\n{chr(10).join(lines)}\n".encode()


def packed(value):
    return b"\0" + zlib.compress(value)


def png_chunks():
    """{what: (chunks before the pixels, chunks behind them)}."""
    xmp, raw = "XML:com.adobe.xmp", "Raw profile type exif"
    eight = image_suite.chunk(b"eXIf", image_suite.exif_of(8)[6:])
    without = image_suite.chunk(b"eXIf", b"II*\0\x08\0\0\0\0\0\0\0\0\0")
    made = {}
    for orientation in range(10):
        packet = ATTRIBUTE.format(orientation).encode()
        made[f"xmp {orientation}"] = text(b"iTXt", xmp, b"\0\0\0\0" + packet), b""
        made[f"raw {orientation}"] = text(b"zTXt", raw, packed(raw_profile(orientation))), b""
    six = ELEMENT.format(6).encode()
    made.update({
        "an element": (text(b"iTXt", xmp, b"\0\0\0\0" + six), b""),
        "packed": (text(b"iTXt", xmp, b"\1\0en\0Key\0" + zlib.compress(six)), b""),
        "an unknown method": (text(b"iTXt", xmp, b"\1\1\0\0" + zlib.compress(six)), b""),
        "no zlib": (text(b"iTXt", xmp, b"\1\0\0\0" + six), b""),
        "two of them": (text(b"iTXt", xmp, b"\0\0\0\0" + six) + text(b"iTXt", xmp, b"\0\0\0\0" + ATTRIBUTE.format(3).encode()), b""),
        "behind the pixels": (b"", text(b"iTXt", xmp, b"\0\0\0\0" + six)),
        "raw behind the pixels": (b"", text(b"zTXt", raw, packed(raw_profile(5)))),
        "raw as tEXt": (text(b"tEXt", raw, raw_profile(7)), b""),
        "raw as iTXt": (text(b"iTXt", raw, b"\0\0\0\0" + raw_profile(2)), b""),
        "xmp as tEXt": (text(b"tEXt", xmp, six), b""),
        "xmp as zTXt": (text(b"zTXt", xmp, packed(six)), b""),
        "Exif, then xmp": (eight + text(b"iTXt", xmp, b"\0\0\0\0" + six), b""),
        "Exif, then raw": (eight + text(b"zTXt", raw, packed(raw_profile(3))), b""),
        "raw, then Exif": (text(b"zTXt", raw, packed(raw_profile(3))), eight),
        "raw, then xmp": (text(b"zTXt", raw, packed(raw_profile(3))) + text(b"iTXt", xmp, b"\0\0\0\0" + six), b""),
        "Exif of 1, then xmp": (image_suite.chunk(b"eXIf", image_suite.exif_of(1)[6:]) + text(b"iTXt", xmp, b"\0\0\0\0" + six), b""),
        "Exif without a tag, then xmp": (without + text(b"iTXt", xmp, b"\0\0\0\0" + six), b""),
        "Exif without a tag, then raw": (without + text(b"zTXt", raw, packed(raw_profile(3))), b""),
        "another keyword": (text(b"iTXt", "Comment", b"\0\0\0\0" + six), b""),
        "a name alone": (text(b"iTXt", xmp, b'\0\0\0\0tiff:Orientation="x" tiff:Orientation = "6" tiff:Orientation>4<'), b""),
    })
    return made


def write_pngs(folder):
    paths = []
    for what, (before, behind) in png_chunks().items():
        data = image_suite.png_bytes(33, 17, 2, 8, image_suite.png_rows(33, 17, 2, 8), False, before)
        paths.append(folder / f"{what.replace(chr(32), chr(95))}.png")
        paths[-1].write_bytes(data[:-12] + behind + data[-12:])
    return paths


def segment(body):
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def write_jpegs(folder):
    stream = io.BytesIO()
    image_suite.picture("RGB", 61, 47).save(stream, "jpeg")
    plain = stream.getvalue()
    xmp = b"http://ns.adobe.com/xap/1.0/\0"
    six = segment(xmp + ATTRIBUTE.format(6).encode())
    made = {f"xmp {i}": segment(xmp + ATTRIBUTE.format(i).encode()) for i in range(10)}
    made.update({
        "an element": segment(xmp + ELEMENT.format(5).encode()),
        "two of them": six + segment(xmp + ELEMENT.format(3).encode()),
        "the second without": six + segment(xmp + b"<x/>"),
        "Exif first": segment(image_suite.exif_of(8)) + six,
        "Exif last": six + segment(image_suite.exif_of(8)),
        "Exif of 1": segment(image_suite.exif_of(1)) + six,
        "another name": segment(b"http://ns.adobe.com/xmp/extension/\0" + ATTRIBUTE.format(6).encode()),
    })
    paths = []
    for what, segments in made.items():
        for place in ("first", "before the scan"):
            at = 2 if place == "first" else plain.index(b"\xff\xda")
            paths.append(folder / f"{what}_{place}.jpg".replace(" ", "_"))
            paths[-1].write_bytes(plain[:at] + segments + plain[at:])
    return paths


def write_webps(folder):
    paths = []
    for orientation in range(10):
        for exif in (None, 1, 3):
            paths.append(folder / f"{orientation}_{exif}.webp")
            options = {"exif": image_suite.exif_of(exif)} if exif else {}
            image_suite.picture("RGB", 33, 47).save(paths[-1], xmp=ATTRIBUTE.format(orientation).encode(), **options)
    return paths


def write(folder):
    made = {"png": write_pngs} | ({"jpeg": write_jpegs, "webp": write_webps} if READS_ALL_XMP else {})
    out = {}
    for kind, writer in made.items():
        (folder / f"oriented_{kind}").mkdir()
        out[f"oriented_{kind}"] = writer(folder / f"oriented_{kind}")
    return out
