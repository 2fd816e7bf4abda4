"""preview and info --images: sheets hold the pixels that were delivered, headers are counted as they are.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import tarfile
import unittest
import zlib

import shell
from shell import ShellTest

GAP = 4
PAPER = 24


def png(width, height, pixels, color=2, depth=8):
    """A PNG of packed pixels: color 0 grey, 2 RGB, 6 RGBA."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    stride = len(pixels) // height
    rows = b"".join(b"\0" + pixels[y * stride : (y + 1) * stride] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Sheet:
    """A PNG as preview writes it."""

    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, stored, ended = 8, b"", False
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            body = data[at + 8 : at + 8 + length]
            assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
            if kind == b"IHDR":
                self.width, self.height, *rest = struct.unpack(">IIBBBBB", body)
                assert rest == [8, 2, 0, 0, 0]
            stored += body if kind == b"IDAT" else b""
            ended = kind == b"IEND"
            at += 12 + length
        rows = zlib.decompress(stored)
        stride = self.width * 3 + 1
        assert ended and len(rows) == stride * self.height and not any(rows[::stride])
        self.rows = [rows[y * stride + 1 : (y + 1) * stride] for y in range(self.height)]

    def area(self, x, y, width, height):
        return b"".join(row[x * 3 : (x + width) * 3] for row in self.rows[y : y + height])


def enlarged(pixels, width, height, factor):
    """RGB pixels with each repeated factor x factor times."""
    out = b""
    for y in range(height):
        row = b"".join(pixels[(y * width + x) * 3 : (y * width + x) * 3 + 3] * factor for x in range(width))
        out += row * factor
    return out


class ImagesTest(ShellTest):
    def tar(self, name, members):
        with tarfile.open(self.path(name), "w") as tar:
            for member, data in members:
                info = tarfile.TarInfo(member)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return "tar:" + name

    def colours(self, count, width=16, height=12):
        """Packed RGB pictures, no two alike."""
        return [bytes((i * 40 + k * 7 + (k % 3) * 30) % 256 for k in range(width * height * 3)) for i in range(count)]

    def photos(self, count, width=16, height=12):
        pictures = self.colours(count, width, height)
        members = []
        for i, pixels in enumerate(pictures):
            members += [(f"{i:03}.png", png(width, height, pixels)), (f"{i:03}.cls", str(i % 3).encode())]
        return self.tar("photos.tar", members), pictures

    def sheet(self, *args):
        self.ok("preview", *args, "-o", "sheet.png")
        return Sheet(self.read("sheet.png"))


class Preview(ImagesTest):
    def test_encoded_pictures_are_decoded_and_stand_in_the_middle_of_their_cells(self):
        uri, pictures = self.photos(5)
        sheet = self.sheet(uri)
        self.assertEqual(sheet.width, 3 * (224 + GAP) + GAP)  # the root of 5, rounded up
        row_height = 224 + GAP + 14 + GAP
        self.assertEqual(sheet.height, 2 * row_height + GAP)
        for i, pixels in enumerate(pictures):
            x, y = GAP + i % 3 * (224 + GAP), GAP + i // 3 * row_height
            self.assertEqual(sheet.area(x, y + 28, 224, 168), enlarged(pixels, 16, 12, 14), i)
            self.assertEqual(set(sheet.area(x, y, 224, 28)), {PAPER})

    def test_small_pictures_are_enlarged_by_whole_factors_whether_their_size_is_fixed_or_not(self):
        for side, fixed, varying in ((1, 96, 224), (30, 3, 7), (50, 2, 4), (64, 2, 3), (80, 1, 2), (100, 1, 2), (150, 1, 1)):
            pixels = self.colours(1, side, side)[0]
            self.npy("a.npy", "|u1", (1, side, side, 3), pixels)
            self.assertEqual(self.sheet("npy:a.npy").area(GAP, GAP, side * fixed, side * fixed), enlarged(pixels, side, side, fixed))
            uri, at = self.tar("a.tar", [("a.png", png(side, side, pixels))]), GAP + (224 - side * varying) // 2
            self.assertEqual(self.sheet(uri).area(at, at, side * varying, side * varying), enlarged(pixels, side, side, varying))

    def test_what_normalisation_did_is_undone_in_every_dtype_and_layout(self):
        uri, _ = self.photos(4)
        plain = self.sheet(uri, "--transform", "decode, resize([24, 32])")
        self.assertEqual(plain.width, 2 * (96 + GAP) + GAP)  # three times as large
        for tail in ("normalize(imagenet)", "normalize(imagenet), chw", "normalize(imagenet), chw, cast(f16)",
                     "chw, cast(f32)", "normalize(mean=0.5, std=0.25), cast(bf16)"):
            seen = self.sheet(uri, "--transform", "decode, resize([24, 32]), " + tail)
            self.assertEqual((seen.width, seen.height), (plain.width, plain.height))
            most = 2 if "bf16" in tail else 1 if "f16" in tail else 0
            worst = max(abs(a - b) for x, y in zip(plain.rows, seen.rows) for a, b in zip(x, y))
            self.assertLessEqual(worst, most, tail)

    def test_arrays_of_pixels_are_drawn_by_their_axes(self):
        pixels = self.colours(1, 5, 4)[0]
        planes = bytes(pixels[p * 3 + c] for c in range(3) for p in range(20))
        grey = pixels[:20]
        shown = {"hwc": ((1, 4, 5, 3), pixels, pixels), "chw": ((1, 3, 4, 5), planes, pixels),
                 "hw": ((1, 4, 5), grey, bytes(v for v in grey for _ in range(3)))}
        for name, (shape, data, expected) in shown.items():
            self.npy(name + ".npy", "|u1", shape, data)
            sheet = self.sheet("npy:" + name + ".npy")
            self.assertEqual(sheet.area(GAP, GAP, 95, 76), enlarged(expected, 5, 4, 19), name)
        self.npy("u16.npy", "<u2", (1, 4, 5), struct.pack("<20H", *(v * 257 for v in grey)))
        self.assertEqual(self.sheet("npy:u16.npy").area(GAP, GAP, 95, 76), enlarged(shown["hw"][2], 5, 4, 19))

    def test_alpha_is_laid_over_grey(self):
        self.npy("a.npy", "|u1", (1, 1, 2, 4), bytes([200, 100, 0, 255, 200, 100, 0, 0]))
        sheet = self.sheet("npy:a.npy?axes=HWC")
        self.assertEqual(sheet.area(GAP, GAP, 1, 1), bytes([200, 100, 0]))
        self.assertEqual(sheet.area(GAP + 95, GAP, 1, 1), bytes([128, 128, 128]))

    def test_values_that_are_no_pixels_are_stretched_and_that_is_said(self):
        self.npy("f.npy", "<f4", (1, 1, 3), struct.pack("<3f", -2, 0, 2))
        ran = self.run_shell("preview", "npy:f.npy", "-o", "sheet.png")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("stretched", ran.err)
        sheet = Sheet(self.read("sheet.png"))
        self.assertEqual([sheet.area(GAP + 32 * i, GAP, 1, 1)[0] for i in range(3)], [0, 128, 255])

    def test_a_sample_is_repeated_with_the_draws_of_other_epochs(self):
        uri, _ = self.photos(4, 40, 40)
        words = (uri, "--transform", "decode, random_crop(32)", "--sample", 2, "--repeat", 6)
        sheet = self.sheet(*words, "--seed", 5)
        self.assertEqual(sheet.width, 6 * (96 + GAP) + GAP)
        cells = {sheet.area(GAP + i * (96 + GAP), GAP, 96, 96) for i in range(6)}
        self.assertGreater(len(cells), 1)
        self.assertEqual(sheet.rows, self.sheet(*words, "--seed", 5, "--num_workers", 2).rows)
        self.assertNotEqual(sheet.rows, self.sheet(*words, "--seed", 6).rows)

    def test_n_counts_pictures_of_one_epoch_in_the_loaders_order(self):
        uri, pictures = self.photos(7, 96, 96)
        whole = "decode, center_crop(96)"
        self.assertEqual(self.sheet(uri, "-n", 3, "--transform", whole).area(GAP, GAP, 96, 96), pictures[0])
        order = [int(line) for line in self.ok("cat", uri, "--shuffle", "full", "--seed", 3, "--indices").split()]
        sheet = self.sheet(uri, "--count=100", "--shuffle", "full", "--seed", 3, "--transform", whole)
        self.assertEqual(sheet.width, 3 * (96 + GAP) + GAP)
        for place, index in enumerate(order):
            x, y = GAP + place % 3 * (96 + GAP), GAP + place // 3 * (96 + GAP + 7 + GAP)
            self.assertEqual(sheet.area(x, y, 96, 96), pictures[index])

    def test_labels_keys_or_indices_stand_under_the_pictures(self):
        picture = png(8, 8, bytes(192))
        strips = {}
        for name, members in {"label": [("a.png", picture), ("a.cls", b"7")], "other": [("a.png", picture), ("a.cls", b"8")],
                              "key": [("seven.png", picture)]}.items():
            sheet = self.sheet(self.tar(name + ".tar", members), "--transform", "decode, resize([96, 96])")
            self.assertEqual(set(sheet.area(GAP, GAP, 96, 96)), {0})
            strips[name] = sheet.area(0, GAP + 96, sheet.width, sheet.height - 96 - GAP)
            self.assertEqual(set(strips[name]), {PAPER, 230})
        self.assertEqual(len(set(strips.values())), 3)
        self.assertGreater(strips["key"].count(230), strips["label"].count(230))

    def caption(self, class_name):
        """The pixels under a picture of the only class of a folder."""
        path = os.path.join(os.fsencode(self.path("named")), class_name if isinstance(class_name, bytes) else class_name.encode())
        os.makedirs(path)
        with open(os.path.join(path, b"1.png"), "wb") as file:
            file.write(png(8, 8, bytes(192)))
        sheet = self.sheet("folder:named", "--transform", "image: decode, resize([384, 384])")
        shutil.rmtree(self.path("named"))
        return sheet.area(0, GAP + 384, sheet.width, sheet.height - 384 - GAP)

    def test_class_names_beyond_ascii_are_written_in_letters_or_one_box_a_character(self):
        for name, same in (("Größe", "Grosse"), ("cañón", "canon"), ("e\u0301te\u0301", "ete"), ("Łódź", "Lodz"),
                           ("собака", "sobaka"), ("γάτα", "gata"), ("don’t–stop", "don't-stop")):
            self.assertEqual(self.caption(name), self.caption(same), name)
        boxes = [self.caption(name) for name in ("犬", "犬犬", "犬犬犬")]
        self.assertEqual(boxes[0], self.caption("猫"))  # the number before it tells them apart on one sheet
        box = boxes[1].count(bytes([230] * 3)) - boxes[0].count(bytes([230] * 3))
        self.assertEqual(boxes[2].count(bytes([230] * 3)) - boxes[1].count(bytes([230] * 3)), box)
        self.assertNotIn(self.caption("?"), boxes)
        self.assertEqual(self.caption(b"\xff\xfe"), boxes[1])  # no UTF-8: one a byte

    def test_standard_output_gets_the_same_bytes_and_a_terminal_none(self):
        uri, _ = self.photos(2)
        self.sheet(uri)
        self.assertEqual(self.ok("preview", uri, "-o", "-"), self.read("sheet.png"))
        ours, theirs = pty.openpty()
        try:
            done = subprocess.run([shell.PROGRAM, "preview", uri, "-o", "-"], cwd=self.folder, stdout=theirs, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, timeout=shell.SECONDS, check=False)
        finally:
            os.close(theirs)
            os.close(ours)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"does not write a picture to a terminal", done.stderr)

    def test_wrong_command_lines_end_with_2(self):
        uri, _ = self.photos(2)
        self.npy("v.npy", "<f4", (2, 10), bytes(80))
        for says, *words in (("needs a file for the sheet", uri),
                             ("--repeat needs --sample", uri, "-o", "a.png", "--repeat", 3),
                             ("-n counts samples", uri, "-o", "a.png", "--sample", 1, "-n", 3),
                             ("--count: expected a whole number of at least 1", uri, "-o", "a.png", "-n", 0),
                             ("-n needs a value", uri, "-o", "a.png", "-n"),
                             ("no flag '-x'", uri, "-x"),
                             ("no field 'picture'", uri, "-o", "a.png", "--field", "picture"),
                             ("field 'data' is f32 10, no picture", "npy:v.npy", "-o", "a.png"),
                             ("expected --device cpu", uri, "-o", "a.png", "--device", "cuda:0")):
            self.fails(2, "preview", *words, says=says)
        self.assertFalse(os.path.exists(self.path("a.png")))

    def test_what_fails_ends_with_1_and_leaves_no_file(self):
        uri, _ = self.photos(2)
        self.fails(1, "preview", uri, "-o", "no/folder/a.png", says="No such file")
        self.fails(1, "preview", uri, "-o", "a.png", "--sample", 9, says="^dataline: --sample 9: the dataset has 2 samples, counted from 0$")
        bad = self.tar("bad.tar", [("a.png", b"no picture"), ("b.png", png(2, 2, bytes(12)))])
        self.fails(1, "preview", bad, "-o", "a.png", says="sample 0|step 0")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.tar", "photos.tar"])

    def test_bad_pictures_are_passed_over_as_on_error_says(self):
        bad = self.tar("bad.tar", [("a.png", b"no picture"), ("b.png", png(2, 2, bytes([9] * 12)))])
        sheet = self.sheet(bad, "--on_error", "replace", "--transform", "decode, resize([96, 96])")
        self.assertEqual(set(sheet.area(GAP, GAP, 96, 96)), {9})


class InfoImages(ImagesTest):
    def test_formats_and_sizes_are_counted_from_the_headers(self):
        sizes = [(4, 3), (10, 20), (100, 50), (4, 4), (7, 9)]
        members = [(f"{i}.png", png(w, h, bytes(w * h * 3))) for i, (w, h) in enumerate(sizes)]
        members.append(("5.png", png(2, 2, bytes(4), color=0)))
        members.append(("6.jpg", b"no picture"))
        uri = self.tar("a.tar", members)
        images = json.loads(self.ok("info", uri, "--images", "--json"))["images"]
        self.assertEqual((images["read"], images["unreadable"], images["grey"]), (6, 1, 1))
        self.assertEqual(images["formats"], {"jpeg": 0, "png": 6, "webp": 0, "pnm": 0})
        self.assertEqual(images["width"], {"min": 2, "median": 7, "max": 100})
        self.assertEqual(images["height"], {"min": 2, "median": 9, "max": 50})
        self.assertEqual(images["pixels"], {"min": 4, "median": 63, "max": 5000})
        self.assertEqual(images["bytes"]["max"], max(len(data) for _, data in members[:6]))
        self.assertRegex(images["unreadable_samples"][0], "^sample 6: ")
        histogram = {b["pixels_from"]: b["images"] for b in images["histogram"] if b["images"]}
        self.assertEqual(histogram, {4: 1, 8: 1, 16: 1, 32: 1, 128: 1, 4096: 1})
        self.assertEqual(sum(b["images"] for b in images["histogram"]), 6)

    def test_the_table_for_people_shows_a_histogram(self):
        uri = self.tar("a.tar", [(f"{i}.png", png(4, 4, bytes(48))) for i in range(3)])
        text = shell.one_line(self.ok("info", uri, "--images").decode())
        for part in ("images 3 read, 0 unreadable", "formats png 3", "width 4 / 4 / 4", "16 32 3 ####"):
            self.assertIn(part, text)

    def test_a_set_without_images_ends_with_2(self):
        self.digits(3)
        self.fails(2, "info", "idx:images", "--images", says="image")
        uri = self.tar("a.tar", [("a.txt", b"text"), ("a.json", b"{}")])
        self.fails(2, "info", uri, "--images", says="image")
        self.fails(2, "info", uri, "--field", "txt", says="--field needs --images")


class Warnings(ImagesTest):
    """JPEGs on which libjpeg only warns: delivered and told in one line, or refused."""

    def setUp(self):
        super().setUp()
        # A stored sequential JPEG of the golden images; its data then ends early.
        golden = pathlib.Path(__file__).resolve().parents[1] / "transform" / "decode" / "golden_images.txt"
        lines = [line.split() for line in golden.read_text(encoding="ascii").splitlines()]
        good = next(bytes.fromhex(data[-1]) for data in lines if data[0].startswith("jpeg") and b"\xff\xc0" in bytes.fromhex(data[-1]))
        os.mkdir(self.path("a"))
        self.write("a/0.jpg", good)
        scan = good.index(b"\xff\xda") + 14
        self.write("a/1.jpg", good[: (scan + len(good)) // 2] + b"\xff\xd9")
        self.command = ["cat", "folder:" + self.path("."), "--field", "image", "--transform", "image: decode, resize([8, 8])"]

    def test_they_are_delivered_and_told(self):
        got = self.run_shell(*self.command)
        self.assertEqual((got.status, len(got.out)), (0, 2 * 8 * 8 * 3))
        self.assertEqual(got.err.count("\n"), 1, got.err)
        self.assertIn("dataline: 1 image was delivered although the decoder warned of damage", got.err)

    def test_error_refuses_them_by_name(self):
        self.fails(1, *self.command, "--on-warning", "error", says="premature end of data segment")
        self.fails(2, *self.command, "--on-warning", "maybe", says="accept.error")


class Photographs(ImagesTest):
    def setUp(self):
        super().setUp()
        self.photographs = os.path.join(shell.SHARED_DATA, "imagenet-sample")
        if not os.path.isdir(self.photographs):
            self.skipTest("no photographs in " + self.photographs)

    def test_photographs_of_a_folder_are_drawn_as_a_trainer_sees_them(self):
        uri = "folder:" + self.photographs
        images = json.loads(self.ok("info", uri, "--images", "--json"))["images"]
        self.assertGreater(images["read"], 0)
        sheet = self.sheet(uri, "-n", 9, "--transform", "decode, random_resized_crop(224), hflip, normalize(imagenet), chw")
        self.assertEqual(sheet.width, 3 * (224 + GAP) + GAP)
        self.assertGreater(len(set(sheet.area(GAP, GAP, 224, 224))), 50)


if __name__ == "__main__":
    shell.main()
