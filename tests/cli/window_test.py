"""shuffle=window: the stream is what docs/pages/reference/order.md says, for every world size, from any step on.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import os
import re

import shell
from shell import ShellTest, indices_of

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/pages/reference/order.md")
WINDOW = ["--shuffle", "window", "--shuffle_block", "64", "--shuffle_blocks", "6", "--seed", "5"]


def definitions():
    """The functions of the page's code blocks, which are all that somebody has who implements the order anew."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
    names = {}
    for block in blocks:
        if "subprocess.run" not in block:
            exec(block, names)
        elif "def even_cut" in block:
            exec(block[:block.index("\n\n\nfor ")], names)
    return names


class Window(ShellTest):
    def rows(self, name, count, row_bytes=1):
        self.write(name, bytes(count * row_bytes))
        return f"{name}?dtype=u8&shape={row_bytes}"

    def indices(self, uri, *words):
        return indices_of(self.ok("cat", uri, *words, "--indices"))

    def test_the_stream_is_the_one_of_the_page(self):
        page = definitions()
        for count, row_bytes, batch, block, blocks in ((1000, 1, 32, 64, 6), (3000, 3, 100, 100, 512), (20_000, 1, 64, 4096, 2), (65, 7, 256, 1, 1)):
            uri = "raw:" + self.rows("data.raw", count, row_bytes)
            words = ["--shuffle", "window", "--shuffle_block", block, "--shuffle_blocks", blocks, "--seed", "5", "--epochs", "2", "--batch_size", batch]
            cut = page["even_cut"](count, row_bytes, block)
            wanted = [i for epoch in (0, 1) for i in page["window_order"](page["blocks_of"](cut), blocks, batch, 5, epoch)]
            self.assertEqual(self.indices(uri, *words), wanted, words)

    def test_files_are_cut_each_on_its_own(self):
        page = definitions()
        for name, count in (("a.raw", 300), ("b.raw", 7), ("c.raw", 500)):
            self.rows(name, count)
        cut, begin = [], 0
        for count in (300, 7, 500):
            cut += [begin + end for end in page["even_cut"](count, 1, 64)]
            begin += count
        said = self.indices("raw:a.raw,b.raw,c.raw?dtype=u8&shape=1", *WINDOW, "--batch_size", "20")
        self.assertEqual(said, page["window_order"](page["blocks_of"](cut), 6, 20, 5, 0))

    def test_ranks_of_every_world_join_to_the_same_stream(self):
        uri = "raw:" + self.rows("data.raw", 1003)
        for last_batch in ("keep", "drop", "pad"):
            job = [*WINDOW, "--global_batch_size", "50", "--last_batch", last_batch, "--epochs", "2"]
            whole = self.indices(uri, *job)
            for world, workers in itertools.product((2, 3, 7, 64), (0, 2)):
                parts = [self.indices(uri, *job, "--rank", rank, "--world_size", world, "--num_workers", workers) for rank in range(world)]
                joined, at = [], [0] * world
                for slots in self.steps(1003, 50, last_batch) * 2:
                    for rank in range(world):
                        mine = slots * (rank + 1) // world - slots * rank // world
                        joined += parts[rank][at[rank]:at[rank] + mine]
                        at[rank] += mine
                self.assertEqual(joined, whole, (world, last_batch))
            if last_batch == "keep":
                self.assertEqual(sorted(whole), sorted([*range(1003)] * 2))

    @staticmethod
    def steps(samples, batch, last_batch):
        rest = samples % batch
        return [batch] * (samples // batch) + {"keep": [rest], "drop": [], "pad": [batch]}[last_batch]

    def test_a_job_goes_on_at_any_step_in_another_world(self):
        uri = "raw:" + self.rows("data.raw", 700)
        job = [*WINDOW, "--global_batch_size", "24", "--epochs", "2"]
        whole = self.indices(uri, *job)
        for step in (1, 7, 29, 30, 31, 45):
            first = self.indices(uri, *job, "--batches", step, "--save_state", "job.state")
            rest = self.indices(uri, *job, "--load_state", "job.state", "--num_workers", "3")
            self.assertEqual(first + rest, whole, step)
            halves = [self.indices(uri, *job, "--load_state", "job.state", "--rank", rank, "--world_size", 2) for rank in (0, 1)]
            self.assertEqual(sorted(halves[0] + halves[1]), sorted(rest), step)

    def test_a_state_of_other_windows_is_refused_by_name(self):
        uri = "raw:" + self.rows("data.raw", 700)
        job = ["cat", uri, "--indices", "--batch_size", "24", "--seed", "5"]
        self.ok(*job, *WINDOW, "--batches", "3", "--save_state", "job.state")
        self.assertIn(b"shuffle: window shuffle_block=64 shuffle_blocks=6 blocks=11 lanes=6 window=64 cut=", self.read("job.state"))
        for words, named in ((["--shuffle", "full"], "'full' here"), ([*WINDOW, "--shuffle_block", "65"], "shuffle_block=65"),
                             ([*WINDOW, "--shuffle_blocks", "7"], "shuffle_blocks=7")):
            ran = self.run_shell(*job, *words, "--load_state", "job.state")
            self.assertEqual(ran.status, 1, ran.err)
            self.assertIn("shuffle is 'window shuffle_block=64", ran.err)
            self.assertIn(named, ran.err)

    def test_what_does_not_go_with_windows(self):
        uri = "raw:" + self.rows("data.raw", 10)
        self.write("order.txt", "1\n" * 10)
        for words, said in ((["--shuffle_block", "64"], "option shuffle_block: needs shuffle=window"),
                            (["--shuffle", "full", "--shuffle_blocks", "6"], "option shuffle_blocks: needs shuffle=window"),
                            ([*WINDOW, "--shuffle_blocks", "0"], "option shuffle_blocks: expected a whole number from 1"),
                            ([*WINDOW, "--shuffle_block", "0"], "option shuffle_block: expected a size"),
                            ([*WINDOW, "--sample_indices", "order.txt"], "shuffle and sample_indices"),
                            ([*WINDOW, "--weights", "order.txt"], "shuffle and weights")):
            ran = self.run_shell("cat", uri, "--indices", *words)
            self.assertEqual(ran.status, 2, ran.err)
            self.assertIn(said, ran.err)

    def test_blocks_below_a_sample_and_above_the_set_and_the_budget(self):
        uri = "raw:" + self.rows("data.raw", 200, 30)
        for words in (["--shuffle_block", "1"], ["--shuffle_block", "1024GiB"], ["--shuffle_block", "512MiB", "--memory_budget", "64MiB"],
                      ["--shuffle_blocks", "1000000"], ["--shuffle_blocks", "1", "--shuffle_block", "1"]):
            said = self.indices(uri, "--shuffle", "window", *words, "--batch_size", "1000000" if "1000000" in words else "7")
            self.assertEqual(sorted(said), list(range(200)), words)

    def test_a_table_beyond_the_budget_names_the_option(self):
        uri = "raw:" + self.rows("data.raw", 2_000_000)
        ran = self.run_shell("cat", uri, "--indices", "--shuffle", "window", "--shuffle_block", "1", "--memory_budget", "8MiB")
        self.assertEqual(ran.status, 1, ran.err)
        self.assertIn("shuffle_block", ran.err)
        self.assertIn("memory_budget", ran.err)

    def test_verbose_says_what_blocks_and_windows_came_out(self):
        uri = "raw:" + self.rows("data.raw", 700)
        for command in (["cat", uri, "--indices", "--batches", "1"], ["info", uri, "--plan"]):
            ran = self.run_shell(*command, *WINDOW, "--batch_size", "24", "--verbose")
            self.assertEqual(ran.status, 0, ran.err)
            self.assertRegex(ran.err, r"order: window shuffle_block=64 shuffle_blocks=6 blocks=11 lanes=6 window=64 cut=[0-9a-f]{16}; "
                                      r"192 bytes for each open epoch; a block is requested up to \d+ steps before its last sample; "
                                      r"open blocks take up to \d+ bytes of the page cache")

    def test_sets_of_no_sample_and_of_one(self):
        self.write("one.raw", b"x")
        self.assertEqual(self.indices("raw:one.raw?dtype=u8", *WINDOW, "--epochs", "3"), [0, 0, 0])
        self.write("empty.raw", b"")
        self.assertEqual(self.indices("raw:empty.raw?dtype=u8", *WINDOW, "--epochs", "1"), [])


if __name__ == "__main__":
    shell.main()
