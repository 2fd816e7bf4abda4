"""Packed documents, against a packer written from the pages of the site alone (docs/pages/guides/packing.md), and sets written
as Megatron-LM's own writer does, from the description of its format.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import random
import struct
import unittest

import shell
from shell import ShellTest

EOT = 7


def documents(seed, count, longest):
    chance = random.Random(seed)
    lengths = [min(longest, 1 + int(chance.lognormvariate(2.5, 1.2))) for _ in range(count)]
    return [[chance.randrange(8, 60000) for _ in range(length - 1)] + [EOT] for length in lengths]


def bare(tokens):
    return struct.pack(f"<{len(tokens)}H", *tokens)


def joined(texts, length):
    stream = [(d, i) for d, text in enumerate(texts) for i in range(len(text))]
    return [stream[at : at + length] for at in range(0, len(stream), length)]


def fitted(texts, length, window):
    rows = []
    for first in range(0, len(texts), window):
        numbers = range(first, min(first + window, len(texts)))
        pieces, here = [], []
        for d in numbers:
            whole = len(texts[d]) // length * length if len(texts[d]) > length else 0
            here += [[(d, i) for i in range(at, at + length)] for at in range(0, whole, length)]
            if whole < len(texts[d]):
                pieces.append([(d, i) for i in range(whole, len(texts[d]))])
        open_rows = []  # [room, when it came to that room, its pieces]
        for now, piece in enumerate(sorted(pieces, key=lambda piece: -len(piece))):
            fits = [row for row in open_rows if row[0] >= len(piece)]
            row = min(fits, key=lambda row: (row[0], -row[1])) if fits else [length, 0, []]
            if not fits:
                open_rows.append(row)
            row[:] = [row[0] - len(piece), now, [*row[2], piece]]
        here += [list(itertools.chain(*sorted(row[2]))) for row in open_rows]
        rows += sorted(here)
    return rows


def fields(texts, row, length):
    x, y, segment, position = [], [], [], []
    last = None
    for d, i in row:
        new, last = d != last, d
        x.append(texts[d][i])
        y.append(texts[d][i + 1] if i + 1 < len(texts[d]) else -100)
        segment.append((segment[-1] if segment else 0) + new)
        position.append(0 if new else position[-1] + 1)
    padding = length - len(x)
    return {
        "x": bare(x + [0] * padding),
        "y": struct.pack(f"<{length}i", *y, *[-100] * padding),
        "segment": struct.pack(f"<{length}i", *segment, *[0] * padding),
        "position": struct.pack(f"<{length}i", *position, *range(padding)),
    }


class Packing(ShellTest):
    def setUp(self):
        super().setUp()
        self.texts = documents(3, 400, 150)
        self.write("t.bin", bare(list(itertools.chain(*self.texts))))

    def expected(self, rows, length):
        made = [fields(self.texts, row, length) for row in rows]
        return {name: b"".join(row[name] for row in made) for name in made[0]}

    def test_rows_are_those_of_the_page(self):
        jobs = {
            "pack_length=64": joined(self.texts, 64),
            "pack_length=64&pack_method=best_fit": fitted(self.texts, 64, 4096),
            "pack_length=32&pack_method=best_fit&pack_window=50": fitted(self.texts, 32, 50),
        }
        for keys, rows in jobs.items():
            length = int(keys.split("&")[0].split("=")[1])
            for name, whole in self.expected(rows, length).items():
                for words in ([], ["--num_workers", 3, "--io", "pread"], ["--num_workers", 0, "--io", "memory"]):
                    out = self.ok("cat", f"tokens:t.bin?documents=eot:{EOT}&{keys}", "--field", name, *words)
                    self.assertEqual(out, whole, (keys, name, words))

    def test_options_are_the_same_as_keys(self):
        by_key = self.ok("cat", f"tokens:t.bin?documents=eot:{EOT}&pack_length=64&pack_method=best_fit", "--field", "y")
        words = ["--pack-length", 64, "--pack-method", "best_fit"]
        self.assertEqual(self.ok("cat", f"tokens:t.bin?documents=eot:{EOT}", *words, "--field", "y"), by_key)

    def test_any_ranks_and_any_stop_join_to_the_whole(self):
        job = ["cat", f"tokens:t.bin?documents=eot:{EOT}&pack_length=64&pack_method=best_fit", "--field", "x",
               "--shuffle", "full", "--seed", 5, "--global_batch_size", 12, "--last_batch", "drop"]
        whole = self.ok(*job)
        step = 12 * 64 * 2
        for world in (2, 3, 4):
            ranks = [self.ok(*job, "--rank", rank, "--world_size", world) for rank in range(world)]
            part = step // world
            both = b"".join(rank[at : at + part] for at in range(0, len(ranks[0]), part) for rank in ranks)
            self.assertEqual(both, whole, world)
        for batches in range(len(whole) // step + 1):
            before = self.ok(*job, "--batches", batches, "--save-state", "s", "--num_workers", batches % 3)
            self.assertEqual(before + self.ok(*job, "--load-state", "s"), whole, batches)

    def test_a_state_of_other_packing_or_other_lengths_is_refused_with_its_reason(self):
        job = ["cat", f"tokens:t.bin?documents=eot:{EOT}", "--field", "x", "--pack_method", "best_fit"]
        self.ok(*job, "--pack_length", 64, "--batches", 1, "--save-state", "s")
        ran = self.run_shell(*job, "--pack_length", 64, "--pack_window", 100, "--load-state", "s")
        self.assertEqual(ran.status, 1)
        self.assertIn("packing is 'best_fit, length 64, window 4096, split true", ran.err)
        self.assertIn("'best_fit, length 64, window 100, split true", ran.err)
        self.texts[3], self.texts[9] = self.texts[9], self.texts[3]  # the same size, the same number of tokens
        self.assertNotEqual(len(self.texts[3]), len(self.texts[9]))
        self.write("t.bin", bare(list(itertools.chain(*self.texts))))
        ran = self.run_shell(*job, "--pack_length", 64, "--load-state", "s")
        self.assertEqual(ran.status, 1)
        self.assertIn("state of another job: packing is", ran.err)

    def test_targets_are_cast_with_what_masks_them(self):
        out = self.ok("cat", f"tokens:t.bin?documents=eot:{EOT}&pack_length=64", "--field", "y", "--transform", "x, y: cast(i64)")
        whole = self.expected(joined(self.texts, 64), 64)["y"]
        numbers = struct.unpack(f"<{len(whole) // 4}i", whole)
        self.assertIn(-100, numbers)
        self.assertEqual(out, struct.pack(f"<{len(numbers)}q", *numbers))

    def test_info_says_how_well_it_packed(self):
        told = json.loads(self.ok("info", "--json", f"tokens:t.bin?documents=eot:{EOT}&pack_length=64&pack_method=best_fit"))
        rows = fitted(self.texts, 64, 4096)
        tokens = sum(map(len, self.texts))
        self.assertEqual(told["samples"], len(rows))
        note = next(note for note in told["notes"] if note.startswith("packed"))
        self.assertIn(f"400 documents of {tokens} tokens", note)
        self.assertIn(f"{100 * (1 - tokens / len(rows) / 64):.2f} % padding", note)
        self.assertIn(f"{400 / len(rows):.2f} documents a row", note)
        self.assertEqual([field["name"] for field in told["fields"]], ["x", "y", "segment", "position", "cu_seqlens"])

    def test_what_contradicts_itself_is_said(self):
        base = f"tokens:t.bin?documents=eot:{EOT}"
        for words, text in [
            ([base, "--pack_method", "best_fit"], "option pack_method: needs pack_length"),
            ([base, "--pack_length", 8, "--pack_window", 8], "option pack_window: needs pack_method=best_fit"),
            ([base + "&pack_length=8", "--pack_length", 8], "already packed"),
            (["tokens:t.bin", "--pack_length", 8], "packing needs documents"),
            ([base, "--pack_length", 8, "--pack_method", "best_fit", "--pack_split=false"], "pack_length is 8 and pack_split=false"),
        ]:
            ran = self.run_shell("cat", *words, "--field", "x")
            self.assertIn(ran.status, (1, 2), words)
            self.assertIn(text, ran.err, words)


class Megatron(ShellTest):
    """The writer is that of the description: lengths, pointers, documents, in one file; tokens in the other."""

    def write_set(self, name, sequences_of_documents):
        sequences = list(itertools.chain(*sequences_of_documents))
        lengths = [len(sequence) for sequence in sequences]
        pointers = [0, *itertools.accumulate(2 * length for length in lengths)][: len(lengths)]
        begins = [0, *itertools.accumulate(map(len, sequences_of_documents))]
        self.write(name + ".bin", bare(list(itertools.chain(*sequences))))
        self.write(name + ".idx", b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(begins))
                   + struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(lengths)}q", *pointers)
                   + struct.pack(f"<{len(begins)}q", *begins))

    def test_documents_and_rows_of_a_written_set(self):
        chance = random.Random(8)
        texts = documents(4, 60, 40)
        cut = lambda text: (lambda at: [text[:at], text[at:]])(chance.randrange(len(text) + 1))
        self.write_set("web", [cut(text) for text in texts])
        out = self.ok("cat", "megatron:web", "--field", "tokens")
        self.assertEqual(out, bare(list(itertools.chain(*texts))))
        out = self.ok("cat", "megatron:web?pack_length=32&pack_method=best_fit", "--field", "segment")
        rows = fitted(texts, 32, 4096)
        self.assertEqual(out, b"".join(fields(texts, row, 32)["segment"] for row in rows))

    def test_two_sets_are_one(self):
        first, second = documents(5, 10, 20), documents(6, 10, 20)
        self.write_set("a", [[text] for text in first])
        self.write_set("b", [[text] for text in second])
        out = self.ok("cat", "megatron:a,b?pack_length=16", "--field", "x")
        self.assertEqual(out, b"".join(fields(first + second, row, 16)["x"] for row in joined(first + second, 16)))


class PackingOverAMix(ShellTest):
    def test_rows_are_made_of_the_documents_that_the_mix_draws(self):
        sets = {"web": documents(11, 50, 40), "code": documents(12, 20, 40)}
        for name, texts in sets.items():
            self.write(name + ".bin", bare(list(itertools.chain(*texts))))
        parts = [{"name": name, "uri": f"tokens:{name}.bin?dtype=u16&documents=eot:{EOT}", "repeat": 1 + 0.5 * k} for k, name in enumerate(sets)]
        self.write("mix.json", json.dumps({"parts": parts}).encode())
        drawn = [line.split() for line in self.ok("cat", "mix:mix.json", "--indices", "--shuffle", "full", "--seed", 0).decode().splitlines()]
        texts = [list(sets.values())[int(part)][int(sample)] for part, sample in drawn]
        self.assertEqual(len(texts), 80)
        packing = ["--pack_length", 32, "--pack_method", "best_fit", "--pack_window", 30]
        for field in ("x", "segment"):
            rows = b"".join(fields(texts, row, 32)[field] for row in fitted(texts, 32, 30))
            self.assertEqual(self.ok("cat", "mix:mix.json", *packing, "--field", field), rows)
        self.assertIn("as one epoch draws them: 80 (web 50, code 30)", self.ok("info", "mix:mix.json", *packing).decode())
        self.fails(2, "info", "mix:mix.json?pack_length=32", says="mix has no key 'pack_length'; set it as an option")


if __name__ == "__main__":
    shell.main()
