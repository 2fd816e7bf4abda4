"""Batches by length in the shell: their order by its definition, tar members padded, lengths from files, what is refused.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.util
import io
import os
import struct
import tarfile

import shell
from shell import ShellTest, indices_of

ORDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "order", "check_golden_order.py")


def definition():
    found = importlib.util.spec_from_file_location("check_golden_order", ORDER)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.bucket_steps


class Buckets(ShellTest):
    def rows(self, lengths):
        self.npy("rows.npy", "|u1", (len(lengths), 1), bytes(len(lengths)))
        self.write("lengths", " ".join(map(str, lengths)))
        return ["cat", "npy:rows.npy", "--lengths", "lengths", "--shuffle", "full"]

    def texts(self, lengths):
        with tarfile.open(self.path("texts.tar"), "w") as archive:
            for i, length in enumerate(lengths):
                info = tarfile.TarInfo(f"{i:04}.txt")
                info.size = length
                archive.addfile(info, io.BytesIO(bytes([97 + i % 26]) * length))
        return "tar:texts.tar"

    def test_the_order_is_that_of_the_definition_for_every_world(self):
        lengths = [i * 37 % 91 for i in range(300)]
        job = [*self.rows(lengths), "--bucket_edges", "10,40,90", "--seed", "11", "--epochs", "2", "--indices"]
        for options, rows in ((["--global_batch_size", "12"], [12, 12, 12]),
                              (["--global_batch_size", "50", "--max_tokens", "400"], [40, 10, 4])):
            wanted = []
            for epoch in range(2):
                wanted += definition()(lengths, [10, 40, 90], rows, 11, epoch)
            self.assertEqual(indices_of(self.ok(*job, *options)), sum(wanted, []))
            for world in (2, 3):
                ranks = [iter(indices_of(self.ok(*job, *options, "--rank", rank, "--world_size", world))) for rank in range(world)]
                for step in wanted:
                    cuts = [len(step) * rank // world for rank in range(world + 1)]
                    parts = [[next(ranks[r]) for _ in range(cuts[r], cuts[r + 1])] for r in range(world)]
                    self.assertEqual(sum(parts, []), step)

    def test_members_of_an_archive_are_padded_to_the_edge_and_their_lengths_delivered(self):
        lengths = [i * 7 % 30 for i in range(60)]
        job = ["cat", self.texts(lengths), "--bucket_edges", "8,16,32", "--batch_size", "4", "--shuffle", "full",
               "--transform", "txt: pad_to(bucket, value=46)"]
        got = self.ok(*job, "--field", "txt")
        order = indices_of(self.ok(*job, "--indices"))
        told = struct.unpack(f"={len(order)}q", self.ok(*job, "--field", "length"))
        at = 0
        for sample, length in zip(order, told):
            self.assertEqual(length, lengths[sample])
            edge = next(edge for edge in (8, 16, 32) if length <= edge)
            self.assertEqual(got[at:at + edge], (bytes([97 + sample % 26]) * length).ljust(edge, b"."))
            at += edge
        self.assertEqual(at, len(got))

    def test_files_of_a_folder_have_the_length_of_their_bytes(self):
        os.makedirs(self.path("set/a"))
        lengths = [1 + i * 7 % 30 for i in range(20)]
        for i, length in enumerate(lengths):
            self.write(f"set/a/{i:02}.jpg", b"x" * length)
        job = ["cat", "folder:set", "--bucket_edges", "16,32", "--batch_size", "4"]
        order = indices_of(self.ok(*job, "--indices"))
        self.assertEqual(struct.unpack("=20q", self.ok(*job, "--field", "length")), tuple(lengths[sample] for sample in order))
        self.assertEqual(len(self.ok(*job, "--transform", "image: pad_to(bucket)", "--field", "image")),
                         sum(16 if length <= 16 else 32 for length in lengths))

    def test_lengths_from_npy_are_those_from_text(self):
        lengths = [i * 5 % 20 for i in range(40)]
        job = [*self.rows(lengths), "--bucket_edges", "7,19", "--indices"]
        wanted = self.ok(*job)
        self.npy("lengths", "<i8", (40,), struct.pack("<40q", *lengths))
        self.assertEqual(self.ok(*job), wanted)
        self.npy("lengths", "|u1", (40,), bytes(lengths))
        self.assertEqual(self.ok(*job), wanted)

    def test_a_job_goes_on_from_its_state_and_not_with_other_edges(self):
        lengths = [i * 37 % 91 for i in range(300)]
        job = [*self.rows(lengths), "--max_tokens", "400", "--seed", "3", "--indices"]
        edges = ["--bucket_edges", "10,40,90"]
        whole = self.ok(*job, *edges)
        first = self.ok(*job, *edges, "--batches", "7", "--save-state", "state")
        self.assertEqual(first + self.ok(*job, *edges, "--load-state", "state"), whole)
        self.fails(1, *job, "--bucket_edges", "10,50,90", "--load-state", "state",
                   says="bucket_edges is '10,40,90' in the state, '10,50,90' here")

    def test_a_wrong_command_line_is_2_and_wrong_lengths_are_1(self):
        job = [*self.rows([5, 15, 25]), "--indices"]
        for says, *words in (("increasing numbers, got 10 after 20", "--bucket_edges", "20,10"),
                             ("expected at least the last of bucket_edges, 30, got 29", "--bucket_edges", "30", "--max_tokens", "29"),
                             ("lengths: needs bucket_edges",),
                             ("only one of|expected one of the two", "--bucket_edges", "30", "--weights", "lengths")):
            with self.subTest(words):
                arguments = [word for word in job if word not in ("--shuffle", "full")] if "--weights" in words else job
                self.fails(2, *arguments, *words, says=says)
        self.fails(1, *job, "--bucket_edges", "20", says="^dataline: sample 2: its length is 25, the last of bucket_edges is 20$")
        self.write("lengths", "5 15")
        self.fails(1, *job, "--bucket_edges", "30", says="^dataline: lengths: 2 lengths, expected one per sample, 3$")
        self.write("lengths", "5 x 15")
        self.fails(1, *job, "--bucket_edges", "30", says="^dataline: lengths: line 1: expected a length, got 'x'$")
        self.write("lengths", "5 15 -1")
        self.fails(1, *job, "--bucket_edges", "30", says="^dataline: sample 2: its length is -1, expected 0 or more$")

    def test_padding_to_a_bucket_needs_one(self):
        self.fails(2, "cat", self.texts([3, 4]), "--field", "txt", "--transform", "txt: pad_to(bucket)", says="needs batches by length")


if __name__ == "__main__":
    shell.main()
