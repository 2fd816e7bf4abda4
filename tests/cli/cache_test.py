"""--cache: the bytes are those without it, when jobs share it, when they are killed at any call, and when the disk fails.

DATALINE_KILLS: how many jobs are killed at random moments (30 when it is not set).

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import unittest

import shell
from shell import ShellTest

ROWS, BYTES = 3000, 1024
CALLS = "pwrite64,ftruncate,flock,mkdir,utimensat,fsync"


class Cache(ShellTest):
    JOB = ["cat", "raw:rows?dtype=u8&shape=16x64&axes=HW", "--transform", "center_crop([12, 40]), random_crop(8)",
           "--shuffle", "full", "--seed", "11", "--epochs", "2", "--batch_size", "50"]

    def setUp(self):
        super().setUp()
        self.chance = random.Random(7)
        self.write("rows", self.chance.randbytes(ROWS * BYTES))
        self.expected = hashlib.sha256(self.ok(*self.JOB)).hexdigest()

    def cached(self, *more):
        return [*self.JOB, "--cache", "cache", *more]

    def check(self, *more):
        self.assertEqual(hashlib.sha256(self.ok(*self.cached("-q", *more))).hexdigest(), self.expected)

    def test_the_second_job_reads_what_the_first_kept(self):
        self.check()
        self.check("--num_workers", "0")
        size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.path("cache")) for name in names)
        self.assertGreater(size, ROWS * 480)
        self.assertLess(size, ROWS * 1000)
        found = self.ok("bench", *self.JOB[1:], "--seconds", "0.05", "--cache", "cache").decode()
        self.assertRegex(found, r"(?m)^cache +[1-9][0-9,]* samples found, 0 made$")

    def test_an_index_that_is_no_file_is_named_and_the_job_continues_without_the_cache(self):
        self.check()
        (index,) = [os.path.join(folder, "index") for folder, _, names in os.walk(self.path("cache")) if "index" in names]
        os.remove(index)
        os.mkfifo(index)
        done = self.run_shell(*self.cached())
        self.assertEqual((done.status, hashlib.sha256(done.out).hexdigest()), (0, self.expected))
        self.assertIn("index: is a FIFO, expected a file", done.err)

    def test_the_plan_and_the_budget_are_told(self):
        done = self.run_shell(*self.cached("--cache-bytes", "300000", "-v"))
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, r"center_crop\(\[12, 40\]\), cache, random_crop\(8\)")
        self.assertRegex(done.err, r"option cache: cache: stores no more samples: cache_bytes=300000 is used up")
        self.fails(2, *self.JOB, "--cache-bytes", "1GiB", says="option cache_bytes: needs cache")
        self.fails(1, *self.JOB, "--cache", "no/such", says="option cache: no/such: no such file")

    def test_bench_without_a_cache_says_nothing_of_one(self):
        self.assertNotRegex(self.ok("bench", *self.JOB[1:], "--seconds", "0.05").decode(), r"(?m)^cache ")

    def test_jobs_at_once_share_it(self):
        jobs = [self.start(*self.cached("--num_workers", workers)) for workers in (0, 1, 2, 2)]
        for job in jobs:
            out, err = job.communicate(timeout=shell.SECONDS)
            self.assertEqual((job.returncode, hashlib.sha256(out).hexdigest()), (0, self.expected), err)
        self.check()

    def test_jobs_that_are_killed_leave_nothing_wrong(self):
        for _ in range(int(os.environ.get("DATALINE_KILLS", "30")) // 2):
            jobs = [self.start(*self.cached("--num_workers", workers), stdout=subprocess.DEVNULL) for workers in (1, 2)]
            for job in jobs:
                try:
                    job.wait(self.chance.uniform(0.002, 0.06))
                except subprocess.TimeoutExpired:
                    job.send_signal(signal.SIGKILL)
            for job in jobs:
                job.communicate()
            if self.chance.random() < 0.2:
                self.check()
            if self.chance.random() < 0.2:
                shutil.rmtree(self.path("cache"))
        self.check()

    def traced(self, inject):
        return subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={CALLS}:{inject}", shell.PROGRAM,
                               *self.cached("--num_workers", "1", "--cache-bytes", "400000")],
                              cwd=self.folder, capture_output=True, timeout=shell.SECONDS, check=False)

    def places(self):
        """Calls of the kind at which a job on an empty cache is disturbed: the first ones, where it is opened, and some later ones."""
        if shutil.which("strace") is None:
            self.skipTest("there is no strace")
        return [*range(1, 21), 60, 333]

    def test_killed_at_every_call(self):
        for place in self.places():
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            self.assertEqual(self.traced(f"signal=SIGKILL:when={place}").returncode, -signal.SIGKILL)
            with self.subTest(place):
                self.check("--cache-bytes", "400000")
                self.check()

    def test_a_failing_call_ends_the_keeping_and_never_the_job(self):
        for place in self.places():
            error = ("EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS", "EMFILE")[place % 6]
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            for when in (f"{place}", f"{place}+"):  # that call alone, and all from it on
                done = self.traced(f"error={error}:when={when}")
                with self.subTest((when, error)):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), self.expected)
                    self.assertLessEqual(done.stderr.count(b"option cache"), 1, done.stderr)
            self.check()

    def test_a_job_that_runs_without_it_runs_with_it_however_few_files_may_be_open(self):
        os.makedirs(self.path("set/a"))
        for number in range(40):
            self.write(f"set/a/{number:02}.ppm", b"P6 4 4 255\n" + self.chance.randbytes(48))
        job = ("cat", "folder:set", "--transform", "image: decode", "--field", "image", "--num_workers", "2", "--epochs", "2", "-q")
        ran_cached = 0
        for limit in range(8, 60):  # standard streams, the folder, and a picture for each thread that loads: 7
            def few(limit=limit):
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            shutil.rmtree(self.path("kept"), ignore_errors=True)
            without = self.run_shell(*job, preexec_fn=few)
            self.assertEqual((without.status, without.err), (0, ""), limit)
            for _ in range(2):  # the second reads one half from the cache, and makes the other half
                for number in range(0, 40, 2):
                    os.utime(self.path(f"set/a/{number:02}.ppm"))
                with_cache = self.run_shell(*job, "--cache", "kept", preexec_fn=few)
                self.assertEqual((with_cache.status, with_cache.out == without.out), (0, True), (limit, with_cache.err))
            used = os.path.exists(self.path("kept"))
            self.assertTrue(used or limit < 50, "with 50 files the job leaves enough to the cache")
            ran_cached += used
        self.assertLess(ran_cached, 30, "with few files the cache leaves all of them to the job")

    def test_a_segment_that_became_a_link_is_said_once_and_not_read(self):
        self.check()
        segments = [os.path.join(folder, name) for folder, _, names in os.walk(self.path("cache")) for name in names if name.endswith(".samples")]
        self.assertTrue(segments)
        for segment in segments:
            os.rename(segment, self.path("elsewhere"))
            os.symlink(self.path("elsewhere"), segment)
        done = self.run_shell(*self.cached())
        self.assertEqual((done.status, hashlib.sha256(done.out).hexdigest()), (0, self.expected), done.err)
        self.assertRegex(done.err, r"option cache: \S+/000001.samples: is a symbolic link, expected a file; the samples in it are made again")
        self.assertEqual(done.err.count("option cache"), 1, done.err)

    def test_a_cache_or_a_trace_in_a_directory_of_the_dataset_is_refused(self):
        os.makedirs(self.path("set/a"))
        self.write("set/a/1.ppm", b"P6 2 2 255\n" + bytes(12))
        os.mkdir(self.path("shards"))
        self.write("shards/rows.jsonl", b'{"x": 1}\n')
        os.symlink("set", self.path("link"))
        before = sorted(os.walk(self.path("set")))
        for uri, place, named in (("folder:set", "set", "set"), ("folder:set", "set/new", "set"), ("folder:set", "set/a", "set"),
                                  ("folder:set", self.path("link/new"), "set"), ("folder:link", "set/new", "link"),
                                  ("set", "set/new", "set"), ("jsonl:shards", "shards/new", "shards")):
            field = "x" if named == "shards" else "image"
            self.fails(2, "cat", uri, "--field", field, "--cache", place, says=f"option cache: {place} is in {named}, a directory of the dataset")
            self.fails(1, "cat", uri, "--field", field, "--trace", place + "/t.json", says=f"is in '{named}', a directory of the dataset")
        self.assertEqual(sorted(os.walk(self.path("set"))), before)
        self.ok("cat", "folder:set", "--field", "image", "--cache", "set.cache", "--trace", "t.json")
        self.ok("info", "folder:set")

    def test_a_disk_that_is_full_only_ends_the_keeping(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        done = self.run_shell(*self.cached(), preexec_fn=limit)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(hashlib.sha256(done.out).hexdigest(), self.expected)
        self.assertRegex(done.err, "stores no more samples: .*samples: .*too large")
        self.check()


if __name__ == "__main__":
    shell.main()
