"""Writes JPEG, PNG, WebP and PNM files of every kind that `decode` takes: with Pillow, and PNG by a small writer of its own,
because no library writes all depths, interlacing and transparency.

SPDX-License-Identifier: Apache-2.0
"""

import random
import struct
import zlib

from PIL import Image

import oriented_images

READS_WIDE_PNM = int(Image.__version__.split(".")[0]) >= 12  # older ones convert PGM of maxval above 255 otherwise
SIZES = [(1, 1), (2, 3), (7, 5), (16, 16), (33, 17), (61, 47), (130, 66)]
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


def picture(mode, width, height, seed=1):
    """Smooth shades with noise on them."""
    draw = random.Random(seed * 1000003 + width * 1009 + height)
    bands = len(Image.new(mode, (1, 1)).getbands())
    noise = draw.randrange(1, 64)
    data = bytes((x * (3 + c) + y * (5 - c) + draw.randrange(noise)) % 256
                 for y in range(height) for x in range(width) for c in range(bands))
    return Image.frombytes(mode, (width, height), data)


def exif_of(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif.tobytes()


def write_jpegs(folder):
    paths = []

    def save(image, **options):
        path = folder / f"{len(paths):03d}.jpg"
        image.save(path, **options)
        paths.append(path)

    for width, height in SIZES:
        for subsampling in (0, 1, 2):
            for progressive in (False, True):
                save(picture("RGB", width, height), subsampling=subsampling, progressive=progressive, quality=85)
        save(picture("L", width, height), quality=70)
        save(picture("L", width, height), progressive=True)
        save(picture("CMYK", width, height), quality=90)
        save(picture("CMYK", width, height), quality=90, progressive=True)
    for quality in (1, 30, 75, 95, 100):
        save(picture("RGB", 61, 47, quality), quality=quality, optimize=True)
    for orientation in range(10):
        save(picture("RGB", 61, 47), exif=exif_of(orientation))
        save(picture("L", 20, 35), exif=exif_of(orientation))
    save(picture("RGB", 61, 47), quality=88, dpi=(300, 300))
    return paths


def frames(mode, width, height):
    return [picture(mode, width, height, seed) for seed in (1, 2, 3)]


def pnm_values(kind, maxval, width, height, seed=1):
    draw = random.Random(seed * 1000003 + maxval)
    count = width * height * (3 if kind in (3, 6) else 1)
    return [draw.choice((0, 1, maxval // 2, maxval, draw.randint(0, maxval))) for _ in range(count)]


def pnm_bytes(kind, maxval, width, height):
    """P1 to P6: of each maxval, as text with comments and odd spaces, as bits, bytes or words."""
    values = pnm_values(kind, maxval, width, height)
    head = f"P{kind}\n# by hand\n{width} {height}\n" + ("" if kind in (1, 4) else f"{maxval}\n")
    if kind == 1:
        return (head + "".join(f"{v}{' ' if i % 3 else ''}{'# 1 0' + chr(10) if i == 5 else ''}" for i, v in enumerate(values))).encode()
    if kind in (2, 3):
        return (head + "".join(f"{v}{(' ', chr(10), '  # 7' + chr(10))[i % 3]}" for i, v in enumerate(values))).encode()
    if kind == 4:
        rows = [values[y * width:(y + 1) * width] for y in range(height)]
        return head.encode() + b"".join(pack_row(row, 1) for row in rows)
    return head.encode() + struct.pack(f">{len(values)}{'H' if maxval > 255 else 'B'}", *values)


def write_pnms(folder):
    """PGM and PPM as Pillow writes them, and all kinds by hand."""
    paths = []

    def save(data):
        paths.append(folder / f"{len(paths):03d}.pnm")
        paths[-1].write_bytes(data)

    for width, height in SIZES:
        for mode, ending in (("L", "pgm"), ("RGB", "ppm")):
            paths.append(folder / f"{len(paths):03d}.{ending}")
            picture(mode, width, height).save(paths[-1])
        for kind in (1, 4):
            save(pnm_bytes(kind, 1, width, height))
        for kind in (2, 3, 5, 6):
            for maxval in (1, 7, 100, 254, 255) + ((256, 1023, 65534, 65535) if READS_WIDE_PNM or kind in (3, 6) else ()):
                save(pnm_bytes(kind, maxval, width, height))
    save(pnm_bytes(5, 100, 7, 5).replace(bytes([100]), bytes([255])))  # values above the maxval
    save(pnm_bytes(2, 9, 2, 3) + b" 5 5 and more")
    return paths


def write_webps(folder):
    paths = []

    def save(image, **options):
        path = folder / f"{len(paths):03d}.webp"
        if isinstance(image, bytes):
            path.write_bytes(image)
        else:
            image.save(path, **options)
        paths.append(path)

    for width, height in SIZES:
        for mode in ("RGB", "RGBA"):
            for options in ({"quality": 80}, {"quality": 20, "method": 6}, {"lossless": True}, {"lossless": True, "exact": True}):
                save(picture(mode, width, height), **options)
    for orientation in range(10):
        save(picture("RGB", 61, 47), exif=exif_of(orientation))
        save(picture("RGBA", 33, 47), exif=exif_of(orientation), lossless=True)
    for mode in ("RGB", "RGBA"):
        for lossless in (False, True):
            first, *others = frames(mode, 61, 47)
            save(first, save_all=True, append_images=others, lossless=lossless)
            moved = Image.new(mode, (90, 70))  # of which the encoder keeps only what shows
            moved.paste(first, (14, 10))
            save(moved, save_all=True, append_images=[Image.new(mode, (90, 70), 9)], lossless=lossless, minimize_size=True)
            save(framed(paths[-2].read_bytes(), 90, 71, 12, 20, mode == "RGBA"))
    return paths


def framed(animation, width, height, left, top, clear):
    """An animation whose first frame lies inside a larger canvas, which no encoder of Pillow's makes."""
    at = animation.index(b"ANMF")
    size = struct.unpack_from("<I", animation, at + 4)[0]
    body = struct.pack("<I", left // 2)[:3] + struct.pack("<I", top // 2)[:3] + animation[at + 14:at + 8 + size]
    canvas = struct.pack("<B3x", 0x12 if clear else 2) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    parts = ((b"VP8X", canvas), (b"ANIM", bytes(6)), (b"ANMF", body + bytes(len(body) % 2)))
    chunks = b"".join(name + struct.pack("<I", len(data)) + data for name, data in parts)
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def pack_row(samples, depth):
    if depth == 8:
        return bytes(samples)
    if depth == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    out, bits, count = bytearray(), 0, 0
    for sample in samples:
        bits, count = bits << depth | sample, count + depth
        if count == 8:
            out.append(bits)
            bits, count = 0, 0
    if count:
        out.append(bits << 8 - count)
    return bytes(out)


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def filter_row(kind, row, above, step):
    out = bytearray([kind])
    for i, value in enumerate(row):
        a = row[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        guess = (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]
        out.append((value - guess) % 256)
    return bytes(out)


def png_bytes(width, height, colour, depth, rows, interlaced=False, extra=b""):
    """`rows` are lists of samples. The five filters take turns."""
    channels = CHANNELS[colour]
    step = max(1, channels * depth // 8)
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    stream, kind = bytearray(), 0
    for x0, y0, dx, dy in passes:
        above = None
        for y in range(y0, height, dy):
            samples = [s for x in range(x0, width, dx) for s in rows[y][x * channels:(x + 1) * channels]]
            if not samples:
                continue
            row = pack_row(samples, depth)
            stream += filter_row(kind % 5, row, above or bytes(len(row)), step)
            above, kind = row, kind + 1
    packed = zlib.compress(bytes(stream))
    middle = len(packed) // 2
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", packed[:middle]) +
            chunk(b"IDAT", packed[middle:]) + chunk(b"IEND", b""))


def png_rows(width, height, colour, depth, seed=1):
    draw = random.Random(seed)
    top = 1 << depth
    noise = max(2, top // 5)
    return [[(x * top // 40 * (c + 1) + y * top // 50 + draw.randrange(noise)) % top
             for x in range(width) for c in range(CHANNELS[colour])] for y in range(height)]


def palette_of(entries, seed=1):
    draw = random.Random(seed)
    return chunk(b"PLTE", bytes(draw.randrange(256) for _ in range(3 * entries)))


def write_pngs(folder):
    paths = []

    def save(*args, **options):
        path = folder / f"{len(paths):03d}.png"
        path.write_bytes(png_bytes(*args, **options))
        paths.append(path)

    for colour, depths in DEPTHS.items():
        for depth in depths:
            for width, height in SIZES[:6]:
                rows = png_rows(width, height, colour, depth)
                extra = palette_of(1 << depth) if colour == 3 else b""
                for interlaced in (False, True):
                    save(width, height, colour, depth, rows, interlaced, extra)
    for alphas in (b"\0", b"\xff\0\xff", bytes(range(0, 256, 7))):  # of palettes
        save(33, 17, 3, 8, png_rows(33, 17, 3, 8), False, palette_of(256) + chunk(b"tRNS", alphas))
    gray = [[i % 5 * 50 for i in range(33)] for _ in range(17)]
    save(33, 17, 0, 8, gray, False, chunk(b"tRNS", struct.pack(">H", 100)))
    colours = [[c * 40 for i in range(33) for c in (i % 3, i % 2, 1)] for _ in range(17)]
    save(33, 17, 2, 8, colours, True, chunk(b"tRNS", struct.pack(">HHH", 40, 40, 40)))
    save(33, 17, 2, 8, png_rows(33, 17, 2, 8), False, chunk(b"gAMA", struct.pack(">I", 45455)) + palette_of(7))
    for depth in (1, 2, 4, 8, 16):  # a transparent grey or colour: a sample, a scaled one, values beyond the depth
        rows = png_rows(33, 17, 0, depth)
        stored = rows[5][7]
        scaled = stored * 255 // ((1 << depth) - 1) if depth < 8 else stored
        for key in sorted({stored, scaled, min(stored, 255), stored >> 8, 0, 1, 255, 256, 0x1ff, 0xffff, scaled + 256}):
            if depth > 1 or key in (0, 255, 0xffff) or int(Image.__version__.split(".")[0]) >= 13:  # older ones compare 1 bit otherwise
                save(33, 17, 0, depth, rows, False, chunk(b"tRNS", struct.pack(">H", key % 65536)))
    for depth in (8, 16):
        rows = png_rows(33, 17, 2, depth)
        stored = rows[5][21:24]
        for key in (stored, [s >> 8 for s in stored], [s & 255 for s in stored], [(s + 256) % 65536 for s in stored], [0, 0, 0]):
            save(33, 17, 2, depth, rows, depth == 16, chunk(b"tRNS", struct.pack(">HHH", *key)))
    for depth in (1, 2, 4):
        save(33, 17, 3, depth, png_rows(33, 17, 3, depth), False, palette_of(1 << depth) + chunk(b"tRNS", b"\x40\0"[:1 << depth]))
    for orientation in range(10):
        exif = chunk(b"eXIf", exif_of(orientation)[6:])
        save(33, 17, 2, 8, png_rows(33, 17, 2, 8), False, exif)
        save(20, 31, 0, 1, png_rows(20, 31, 0, 1), False, exif)
    for mode in ("RGB", "RGBA", "L", "P"):
        for default_image in (False, True):
            path = folder / f"{len(paths):03d}.png"
            first, *others = frames("RGB" if mode == "P" else mode, 61, 47)
            first.convert(mode).save(path, save_all=True, append_images=[one.convert(mode) for one in others],
                                     default_image=default_image)
            paths.append(path)
    return paths


def write(folder):
    """{kind: [paths]}, for comparison with Pillow."""
    for name in ("jpeg", "png", "webp", "pnm", "stored"):
        (folder / name).mkdir()
    return {
        "jpeg": write_jpegs(folder / "jpeg"),
        "png": write_pngs(folder / "png"),
        "webp": write_webps(folder / "webp"),
        "pnm": write_pnms(folder / "pnm"),
        **oriented_images.write(folder),
    }


def write_stored(folder):
    """[(path, (height, width, channels, element bytes), pixels)]: what `unchanged` gives, by the format's own rules:
    samples as stored, low depths of grey scaled, indexes of a palette as they are."""
    files = []
    for colour, depths in DEPTHS.items():
        for depth in depths:
            rows = png_rows(33, 17, colour, depth)
            path = folder / "stored" / f"{colour}_{depth}.png"
            path.write_bytes(png_bytes(33, 17, colour, depth, rows, depth < 8, palette_of(1 << depth) if colour == 3 else b""))
            scale = 255 // ((1 << depth) - 1) if colour == 0 and depth < 8 else 1
            code = "H" if depth == 16 else "B"
            pixels = b"".join(struct.pack(f"={len(row)}{code}", *(s * scale for s in row)) for row in rows)
            files.append((path, (17, 33, CHANNELS[colour], struct.calcsize(code)), pixels))
    return files
