"""Batches by aspect ratio in the shell: the order by its definition, sizes out of headers, what is refused, files that change.

SPDX-License-Identifier: Apache-2.0
"""

import io
import math
import os
import struct
import tarfile
import unittest

import shell
from buckets_test import definition
from images_test import png
from shell import ShellTest, indices_of

SHAPES = [(32, 48), (40, 40), (48, 32)]
EDGES = ",".join(f"{height}x{width}" for height, width in SHAPES)


def size_of(number):
    shorter = 40 + number * 7 % 23
    return [(shorter, shorter * 3 // 2), (shorter * 3 // 2, shorter), (shorter, shorter + 1)][number % 3]


def nearest(height, width):
    return min(range(3), key=lambda k: abs(math.log(width / height) - math.log(SHAPES[k][1] / SHAPES[k][0])))


class Aspect(ShellTest):
    def pictures(self, count):
        os.makedirs(self.path("set/a"))
        for number in range(count):
            height, width = size_of(number)
            self.write(f"set/a/{number:03}.png", png(width, height, bytes([number % 256, 7, 9]) * (width * height)))
        return ["cat", "folder:set", "--bucket_by", "aspect", "--bucket_edges", EDGES, "--transform",
                "image: decode, resize(bucket)", "--shuffle", "full", "--seed", "11"]

    def test_the_order_is_that_of_the_definition_for_every_world(self):
        job = [*self.pictures(90), "--epochs", "2", "--global_batch_size", "12", "--indices"]
        shapes = [nearest(*size_of(number)) for number in range(90)]
        # A bucket is what has its number as length: edges are the numbers.
        wanted = []
        for epoch in range(2):
            wanted += definition()(shapes, [0, 1, 2], [12, 12, 12], 11, epoch)
        self.assertEqual(indices_of(self.ok(*job)), sum(wanted, []))
        ranks = [iter(indices_of(self.ok(*job, "--rank", rank, "--world_size", 2))) for rank in (0, 1)]
        for step in wanted:
            half = len(step) // 2
            self.assertEqual([next(ranks[0]) for _ in range(half)] + [next(ranks[1]) for _ in range(len(step) - half)], step)

    def test_rows_have_the_shape_and_tell_the_size_of_the_picture(self):
        job = [*self.pictures(30), "--batch_size", "4"]
        order = indices_of(self.ok(*job, "--indices"))
        sizes = struct.unpack(f"={2 * len(order)}i", self.ok(*job, "--field", "size"))
        self.assertEqual([sizes[2 * i : 2 * i + 2] for i in range(len(order))], [size_of(number) for number in order])
        pixels, at = self.ok(*job, "--field", "image"), 0
        for number in order:
            height, width = SHAPES[nearest(*size_of(number))]
            row = pixels[at : at + height * width * 3]
            self.assertEqual(row, bytes([number % 256, 7, 9]) * (height * width))
            at += len(row)
        self.assertEqual(at, len(pixels))

    def test_a_position_is_saved_and_goes_on(self):
        job = [*self.pictures(40), "--batch_size", "4", "--field", "image"]
        whole = self.ok(*job)
        head = self.ok(*job, "--batches", 5, "--save-state", "state")
        self.assertEqual(head + self.ok(*job, "--load-state", "state", "--num_workers", 0), whole)
        self.write("set/a/003.png", png(50, 50, bytes(50 * 50 * 3)))
        self.fails(1, *job, "--load-state", "state", says="state of another job")

    def test_members_of_an_archive_have_their_sizes(self):
        with tarfile.open(self.path("set.tar"), "w") as archive:
            for number in range(12):
                height, width = size_of(number)
                data = png(width, height, bytes([number, 7, 9]) * (width * height))
                info = tarfile.TarInfo(f"{number:03}.png")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        job = ["cat", "tar:set.tar", "--bucket_by", "aspect", "--bucket_edges", EDGES, "--batch_size", "4",
               "--transform", "image: decode, resize(bucket)"]
        order = indices_of(self.ok(*job, "--indices"))
        sizes = struct.unpack("=24i", self.ok(*job, "--field", "size"))
        self.assertEqual([sizes[2 * i : 2 * i + 2] for i in range(12)], [size_of(number) for number in order])

    def test_what_has_no_header_is_a_bad_sample_and_told_at_once(self):
        job = [*self.pictures(20), "--batch_size", "4", "--field", "image"]
        self.write("set/a/005.png", b"no picture")
        self.write("set/a/006.png", b"")
        ran = self.run_shell(*job, "--on_error", "quarantine")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("2 ", ran.err)
        shapes = [SHAPES[nearest(*size_of(number))] for number in range(20) if number not in (5, 6)]
        commonest = max(SHAPES, key=shapes.count)
        rows = [*shapes, commonest, commonest]
        self.assertEqual(len(ran.out), sum(height * width * 3 for height, width in rows))
        raised = self.run_shell(*job, "--on_error", "raise")
        self.assertEqual(raised.status, 1, raised.err)
        self.assertRegex(raised.err.splitlines()[-1], r"a/00[56]\.png")

    def test_what_is_wrong_names_the_option_or_the_file(self):
        job = self.pictures(6)
        self.fails(2, *job, "--bucket_edges", "40", says="expected shapes, height x width")
        self.fails(2, *job, "--bucket_edges", "40x40,20x20", says="different aspect ratios, got 20x20 after 40x40")
        self.fails(2, *job, "--bucket_by", "length", says="shapes need bucket_by=aspect")
        self.fails(2, "cat", "folder:set", "--bucket_by", "aspect", says="needs bucket_edges")
        self.fails(2, *job, "--transform", "image: decode, resize(bucket), flatten", says="from bucket to bucket")
        self.fails(2, "cat", "folder:set", "--transform", "image: decode, resize(bucket)", "--field", "image",
                   says="bucket_by=aspect and bucket_edges")


if __name__ == "__main__":
    shell.main()
