"""Pictures for the page of transforms: one is drawn here, and what the loader makes of it is written as PNG.

SPDX-License-Identifier: Apache-2.0
"""

import struct
import zlib


def png(width, height, channels, pixels):
    """A PNG file of 8 bits: 1 channel is grey, 3 are RGB, 4 RGBA."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    assert len(pixels) == width * height * channels, (width, height, channels, len(pixels))
    row = width * channels
    lines = b"".join(b"\0" + pixels[y * row : (y + 1) * row] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def inside(x, y, corners):
    """Whether a point lies in a convex polygon."""
    sides = [
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True)
    ]
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


def house(width=144, height=108, sun=(255, 205, 60)):
    """A house on a hill with the sun at the right: no side is like another, so turns and mirrors show."""
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            shade = y * 90 // height
            colour = (110 + shade, 165 + shade // 2, 225)
            if (x - 118) ** 2 + (y - 22) ** 2 < 13**2:
                colour = sun
            if y > 82 - 14 * (1 - ((x - 60) / 80) ** 2):
                colour = (70 + (x * 7 + y * 13) % 12, 140 - y // 3, 70)
            if 32 <= x < 82 and 46 <= y < 88:
                colour = (196, 88, 66) if (y // 6 + x // 10) % 2 else (184, 78, 58)
            if inside(x, y, [(24, 47), (57, 18), (90, 47)]):
                colour = (92, 58, 48)
            if 40 <= x < 52 and 66 <= y < 88:
                colour = (60, 42, 36)
            if 60 <= x < 74 and 56 <= y < 68:
                colour = (250, 240, 190) if x != 67 and y != 62 else (60, 42, 36)
            pixels += bytes(colour)
    return width, height, bytes(pixels)


def rings(width=144, height=108):
    """Another picture, for what mixes two."""
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            away = int(((x - 72) ** 2 + (y - 54) ** 2) ** 0.5)
            pixels += bytes((230, 230, 225) if away // 9 % 2 else (40, 60, 120))
    return width, height, bytes(pixels)
