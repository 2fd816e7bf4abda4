"""--save-state and --load-state: what was written before and what is written after join to the whole, and a state file is
whole at every moment.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import shutil
import signal
import subprocess
import unittest

import shell
from shell import ShellTest, indices_of


class Resume(ShellTest):
    JOB = ["cat", "idx:images", "--shuffle", "full", "--seed", "11", "--global_batch_size", "12", "--epochs", "3"]

    def setUp(self):
        super().setUp()
        self.rows = self.digits(101)
        self.steps = 9  # an epoch's

    def test_a_chain_of_runs_joins_to_the_whole(self):
        whole = self.ok(*self.JOB)
        chance = random.Random(4)
        for attempt in range(6):
            joined, done = b"", 0
            load = []
            while done < 3 * self.steps:
                batches = chance.randint(0, 7)
                words = ["--num_workers", chance.choice((0, 1, 3)), "--prefetch_depth", chance.choice((1, 2, 9))]
                joined += self.ok(*self.JOB, *load, *words, "--batches", batches, "--save-state", "s")
                load = ["--load-state", "s"]
                done += batches
            self.assertEqual(joined + self.ok(*self.JOB, *load), whole, attempt)

    def test_every_stop_goes_on_exactly(self):
        whole = indices_of(self.ok(*self.JOB, "--indices"))
        for batches in range(3 * self.steps + 2):
            before = indices_of(self.ok(*self.JOB, "--indices", "--batches", batches, "--save-state", "s"))
            after = indices_of(self.ok(*self.JOB, "--indices", "--load-state", "s"))
            self.assertEqual(before + after, whole, batches)

    def test_the_world_may_change_in_between(self):
        whole = indices_of(self.ok(*self.JOB, "--indices"))
        slots = [12] * 8 + [5]
        stops = [0, 4, 10, 27]  # steps of the job
        joined = []
        load = []
        for (begin, end), world in zip(zip(stops, stops[1:]), (2, 3, 1)):
            streams = []
            for rank in range(world):
                streams.append(indices_of(self.ok(*self.JOB, "--indices", "--rank", rank, "--world_size", world, *load,
                                                  "--batches", end - begin, "--save-state", f"s{rank}")))
            self.assertEqual(len({self.read(f"s{rank}") for rank in range(world)}), 1)
            taken = [0] * world
            for step in range(begin, end):
                size = slots[step % self.steps]
                for rank in range(world):
                    count = size * (rank + 1) // world - size * rank // world
                    joined += streams[rank][taken[rank]:taken[rank] + count]
                    taken[rank] += count
            os.replace(self.path("s0"), self.path("start"))
            load = ["--load-state", "start"]
        self.assertEqual(joined, whole)

    def test_epochs_count_the_whole_job(self):
        job = ["cat", "idx:images", "--batch_size", "10"]
        self.ok(*job, "--epochs", "2", "--batches", "15", "--save-state", "s")
        self.assertEqual(self.ok(*job, "--epochs", "2", "--load-state", "s"), b"".join(self.rows[40:]))
        self.assertEqual(self.ok(*job, "--epochs", "3", "--load-state", "s"), b"".join(self.rows[40:] + self.rows))
        self.fails(1, *job, "--load-state", "s", says="epoch 1, step 4.*1 epoch")  # cat's own default
        self.ok(*job, "--epochs", "2", "--save-state", "s")
        self.assertEqual(self.ok(*job, "--epochs", "2", "--load-state", "s"), b"")

    def test_a_state_is_small_text(self):
        self.ok(*self.JOB, "--batches", "5", "--save-state", "s")
        state = self.read("s")
        self.assertLess(len(state), 4096)
        self.assertIn(b"step: 5", state)
        self.assertNotIn(self.folder.encode(), state)

    def test_a_state_of_another_job_is_refused_with_both_values(self):
        self.ok(*self.JOB, "--batches", "5", "--save-state", "s")
        self.fails(1, *self.JOB, "--seed", "12", "--load-state", "s", says="seed.*11.*12|seed.*12.*11")
        self.fails(1, *self.JOB, "--global_batch_size", "13", "--load-state", "s", says="12.*13|13.*12")
        self.digits(102)
        self.fails(1, *self.JOB, "--load-state", "s", says="101.*102|102.*101")

    def test_text_that_is_no_state_is_refused(self):
        self.ok(*self.JOB, "--batches", "5", "--save-state", "s")
        state = self.read("s")
        for name, text in {"empty": b"", "cut": state[:-10], "changed": state.replace(b"step: 5", b"step: 6"),
                           "zero": state[:20] + b"\0" + state[20:], "long": state + b" " * 5000,
                           "other": b"dataline state 999\n"}.items():
            self.write("t", text)
            ran = self.run_shell(*self.JOB, "--load-state", "t")
            self.assertEqual((ran.status, ran.out), (1, b""), name)
            self.assertEqual(len(ran.err.splitlines()), 1, name)


class Saving(ShellTest):
    def setUp(self):
        super().setUp()
        self.digits(50)

    def save(self, batches, name="s", **keywords):
        return self.run_shell("cat", "idx:images", "--batch_size", "5", "--batches", batches, "--save-state", name, **keywords)

    def step(self, name="s"):
        return int(self.read(name).split(b"step: ")[1].split()[0])

    def test_a_new_state_takes_the_place_of_the_old(self):
        for batches in (1, 4, 2):
            self.assertEqual(self.save(batches).status, 0)
            self.assertEqual(self.step(), batches)
        self.assertEqual(sorted(os.listdir(self.folder)), ["images", "s"])

    def test_a_link_stays_a_link(self):
        os.mkdir(self.path("states"))
        self.write("states/real", "old")
        os.symlink("states/real", self.path("s"))
        self.assertEqual(self.save(3).status, 0)
        self.assertTrue(os.path.islink(self.path("s")))
        self.assertEqual(self.step("states/real"), 3)
        self.assertEqual(os.listdir(self.path("states")), ["real"])

    def test_what_is_no_file_is_left_alone(self):
        os.mkfifo(self.path("s"))
        ran = self.save(3)
        self.assertEqual((ran.status, ran.out), (1, b""))
        self.assertRegex(ran.err, "^dataline: s: .*plain file")
        self.assertTrue(os.path.exists(self.path("s")))

    def test_permissions_follow_the_umask(self):
        self.assertEqual(self.save(3, umask=0o027).status, 0)
        self.assertEqual(os.stat(self.path("s")).st_mode & 0o777, 0o640)


@unittest.skipUnless(shutil.which("strace") and subprocess.run(
    ["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0, "no strace, or it may not trace")
class SavingUnderFaults(Saving):
    """Each system call of a save fails, or the process is killed at it: the file is the old state or the new one."""

    CALLS = "openat,write,fsync,fdatasync,close,rename,renameat,renameat2"

    def traced(self, inject, *trace):
        with open(self.path("out"), "wb") as out:
            return subprocess.run(["strace", "-o", self.path("trace"), "-e", f"trace={self.CALLS}", *trace,
                                   *(["-e", f"inject={inject}"] if inject else []), shell.PROGRAM, "cat", "idx:images",
                                   "--batch_size", "5", "--batches", "7", "--num_workers", "0", "--save-state", "s"],
                                  cwd=self.folder, stdout=out, stderr=subprocess.PIPE, timeout=shell.SECONDS, check=False)

    def calls(self):
        """(name, n-th of that name) of the save's calls, in a run that nothing disturbs."""
        self.assertEqual(self.traced("").returncode, 0)
        seen, wanted, saving = {}, [], False
        for line in self.read("trace").decode().splitlines():
            name = line.split("(")[0]
            seen[name] = seen.get(name, 0) + 1
            saving = saving or name == "fdatasync"
            if saving and name in self.CALLS.split(","):
                wanted.append((name, seen[name]))
        self.assertGreaterEqual({name for name, _ in wanted}, {"openat", "write", "fsync", "rename", "fdatasync"})
        return wanted

    def old_state(self):
        self.assertEqual(self.save(2).status, 0)
        return self.read("s")

    def test_killed_at_every_call(self):
        calls = self.calls()
        old, new, outcomes = self.old_state(), None, []
        self.assertEqual(self.save(7).status, 0)
        new = self.read("s")
        for name, when in calls:
            self.write("s", old)
            done = self.traced(f"{name}:signal=SIGKILL:when={when}")
            outcome = {old: "old", new: "new"}.get(self.read("s"), "torn")
            self.assertNotEqual(outcome, "torn", (name, when))
            outcomes.append((name, outcome, done.returncode))
        self.assertIn("old", [outcome for _, outcome, _ in outcomes])
        self.assertIn("new", [outcome for _, outcome, _ in outcomes])
        # A state of a killed run does not stop the next save.
        self.assertEqual(self.save(3).status, 0)
        self.assertEqual(self.step(), 3)

    def test_a_failing_call_is_a_failed_save(self):
        old = self.old_state()
        for name, when in self.calls():
            if name == "close":
                continue
            for error in ("EIO", "ENOSPC"):
                self.write("s", old)
                done = self.traced(f"{name}:error={error}:when={when}")
                after_rename = self.read("s") != old
                with self.subTest((name, when, error)):
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, rb"^dataline: .*(saved|s: |s\.part).*\n$")
                    self.assertFalse([n for n in os.listdir(self.folder) if ".part-" in n])
                    if after_rename:  # only the folder's own sync comes later
                        self.assertEqual(self.step(), 7)


class Interrupted(ShellTest):
    """A run that is stopped from outside saves the position of the first batch that was not written whole."""

    BATCH_BYTES = 64 * 16

    def setUp(self):
        super().setUp()
        self.digits(3000)
        self.job = ["cat", "idx:images", "--batch_size", "64", "--shuffle", "full", "--epochs", "100000"]

    def reference(self, batches):
        return self.ok(*self.job, "--batches", batches)

    def goes_on(self, written):
        """The state continues after the whole batches of `written`, which are what an undisturbed run writes."""
        epoch, step = (int(self.read("s").split(key)[1].split()[0]) for key in (b"epoch: ", b"step: "))
        epoch_bytes = 3000 * 16
        position = epoch * epoch_bytes + min(step * self.BATCH_BYTES, epoch_bytes)
        self.assertLessEqual(position, len(written))
        self.assertLess(len(written) - position, self.BATCH_BYTES)
        batches = (epoch * 47 + step) + 20
        whole = self.reference(batches)
        self.assertEqual(whole[:position], written[:position])
        after = self.ok(*self.job, "--load-state", "s", "--batches", 20)
        self.assertEqual(whole[position:], after)

    def test_signals_end_with_128_and_their_number(self):
        for name, number in (("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)):
            for workers in (0, 1):
                process = self.start(*self.job, "--save-state", "s", "--num_workers", workers)
                written = process.stdout.read(50_000)
                process.send_signal(getattr(signal, name))
                written += process.stdout.read()
                self.assertEqual((process.wait(shell.SECONDS), process.stderr.read()), (number, b""), name)
                self.goes_on(written)

    def test_a_reader_that_does_not_read_is_not_waited_for(self):
        process = self.start(*self.job, "--save-state", "s", "--num_workers", "1")
        written = process.stdout.read(10_000)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)  # seconds; the pipe is full all the while
        self.goes_on(written + process.stdout.read())

    def test_ignored_signals_stay_ignored(self):
        process = self.start(*self.job, "--save-state", "s", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        process.stdout.read(10_000)
        process.send_signal(signal.SIGINT)
        self.assertEqual(len(process.stdout.read(1_000_000)), 1_000_000)
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        self.assertEqual(process.wait(shell.SECONDS), 143)

    def test_a_second_signal_ends_at_once(self):
        process = self.start(*self.job, "--save-state", "s")
        process.stdout.read(10)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(10), (130, 143))

    def test_a_closed_pipe_saves_too(self):
        process = self.start(*self.job, "--save-state", "s")
        written = process.stdout.read(30_000)
        process.stdout.close()
        self.assertEqual((process.wait(shell.SECONDS), process.stderr.read()), (0, b""))
        epoch, step = (int(self.read("s").split(key)[1].split()[0]) for key in (b"epoch: ", b"step: "))
        self.assertGreaterEqual((epoch * 47 + step) * self.BATCH_BYTES, len(written) - self.BATCH_BYTES)

    def test_a_full_disk_saves_the_last_whole_batch(self):
        limit = 300_000  # bytes a file may have; inside a batch

        def small_files():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with open(self.path("out"), "wb") as out:
            ran = self.run_shell(*self.job, "--save-state", "s", stdout=out, preexec_fn=small_files)
        self.assertEqual(ran.status, 1)
        self.assertRegex(ran.err, "^dataline: standard output: File too large\n$")
        self.assertEqual(os.path.getsize(self.path("out")), limit)
        self.goes_on(self.read("out"))


if __name__ == "__main__":
    shell.main()
