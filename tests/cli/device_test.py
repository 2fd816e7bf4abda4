"""Devices in the shell: the plan of a job, what cat and bench do with --device, and what is said when there is none.

A GPU is not needed: what runs on a device runs on the fake driver, found in the build's lib folder.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import unittest

import shell
from shell import ShellTest

STAGE_KEYS = ["field", "runs_on", "text", "bytes_in", "bytes_out"]
TRANSFORM = "image: normalize(mnist), chw"


class Plan(ShellTest):
    def plan(self, *words):
        info = json.loads(self.ok("info", *words, "--plan", "--json"))
        self.assertEqual(list(info)[-3:], ["warnings", "plan", "bus_bytes_per_sample"])
        for stage in info["plan"]:
            self.assertEqual(list(stage), STAGE_KEYS)
        return info["plan"], info["bus_bytes_per_sample"]

    def test_on_the_cpu_nothing_crosses_the_bus(self):
        uri, _, _ = self.labelled(5, size=28)
        stages, bus = self.plan(uri, "--transform", TRANSFORM)
        self.assertEqual({stage["runs_on"] for stage in stages}, {"cpu"})
        self.assertEqual({stage["field"] for stage in stages}, {"label", "image"})
        self.assertEqual(bus, 0)
        last = [stage for stage in stages if stage["field"] == "image"][-1]
        self.assertEqual(last["bytes_out"], 28 * 28 * 4)

    def test_the_plan_is_asked_for(self):
        self.digits(5)
        self.assertNotIn("plan", json.loads(self.ok("info", "idx:images", "--json")))
        self.assertNotIn(b"across the bus", self.ok("info", "idx:images"))

    def test_options_of_loaders_are_taken_with_plan_alone(self):
        self.digits(40)
        for words in (["--transform", "cast(f32)"], ["--device", "cpu"], ["--batch_size", "4"], ["--drop_last"]):
            self.ok("info", "idx:images", "--plan", *words)
            self.fails(2, "info", "idx:images", *words, says="it is an option of loaders .*info --plan")
            self.fails(2, "info", "idx:images", "--plan=false", *words, says="it is an option of loaders")

    def test_what_is_wrong_with_the_job_is_said(self):
        self.digits(5)
        self.fails(2, "info", "idx:images", "--plan", "--transform", "nomalize(mnist)", says="nomalize")
        self.fails(2, "info", "idx:images", "--plan", "--batch_sise", "4", says="did you mean '--batch-size'")
        self.fails(2, "info", "idx:images", "--plan", "--device", "gpu", says="device.*'gpu'")

    def test_the_table_for_people_names_stages_and_bytes(self):
        uri, _, _ = self.labelled(5, size=28)
        text = self.ok("info", uri, "--plan", "--transform", TRANSFORM).decode()
        self.assertRegex(text, r"(?m)^plan +runs on +bytes in +bytes out +does$")
        self.assertRegex(text, r"(?m)^image +cpu +.*3,136 ")
        self.assertRegex(text, r"(?m)^across the bus +0 bytes a sample$")


class NoDevice(ShellTest):
    def test_cat_refuses_a_device_before_it_opens_anything(self):
        for device in ("cuda", "cuda:0", "cuda:7"):
            self.fails(2, "cat", "idx:nowhere", "--device", device, says=f"cat writes from host memory.*'{device}'")
        rows = self.digits(3)
        self.assertEqual(self.ok("cat", "idx:images", "--device", "cpu"), b"".join(rows))

    def test_a_driver_that_is_not_there_is_named(self):
        self.digits(3)
        for command in (["bench"], ["info", "--plan"]):
            self.fails(1, *command, "idx:images", "--device", "cuda:0", "--cuda_library", "/nowhere/libcuda.so.1",
                       says="/nowhere/libcuda.so.1")


class Version(ShellTest):
    """Tells of the driver that the loader of programs finds, without starting it."""

    def told(self, library):
        os.symlink(library, self.path("libcuda.so.1"))
        environment = dict(os.environ, LD_LIBRARY_PATH=self.folder)
        return json.loads(self.ok("version", "--json", env=environment)), self.ok("version", env=environment).decode()

    def test_the_kernels_and_the_driver_that_would_run_them_are_told(self):
        if not shell.FAKE_DRIVER:
            self.skipTest("libfake_cuda.so is not in the build's lib folder")
        told, text = self.told(shell.FAKE_DRIVER)
        self.assertEqual(told["cuda_driver"], "13.0")
        self.assertRegex(text, r"(?m)^cuda driver +13\.0$")
        if "cuda-kernels" in told["features"]:
            self.assertRegex(told["kernels"], r"^CUDA \d+\.\d+, sm_\d+( sm_\d+)*$")
            self.assertIsNone(told["why_no_kernels"])
            self.assertRegex(text, rf"(?m)^kernels +{re.escape(told['kernels'])}$")
        else:
            self.assertEqual((told["kernels"], told["why_no_kernels"]), (None, "this build has none"))
            self.assertRegex(text, r"(?m)^kernels +none: this build has none$")

    def test_a_driver_that_is_too_old_for_the_kernels_is_told(self):
        old = os.path.join(os.path.dirname(shell.FAKE_DRIVER), "libfake_old_cuda.so")
        if not os.path.exists(old):
            self.skipTest("libfake_old_cuda.so is not in the build's lib folder")
        told, text = self.told(old)
        self.assertEqual(told["cuda_driver"], "11.8")
        if "cuda-kernels" in told["features"]:
            self.assertRegex(told["why_no_kernels"], r"^they need a CUDA \d+\.0 driver, this one is 11\.8$")
            self.assertIn(": not used: " + told["why_no_kernels"], " ".join(text.split()))  # it may be broken into lines


class OnTheFakeDriver(ShellTest):
    def setUp(self):
        super().setUp()
        if not shell.FAKE_DRIVER:
            self.skipTest("libfake_cuda.so is not in the build's lib folder")

    def device(self, name="cuda:0"):
        return ["--device", name, "--cuda_library", shell.FAKE_DRIVER]

    def has_kernels(self):
        """Without them what has to be computed is computed before the bus."""
        return "cuda-kernels" in json.loads(self.ok("version", "--json"))["features"]

    def converted(self, *words):
        """The output of a job that a device with kernels converts for, and nothing on stderr but that they are missing."""
        ran = self.run_shell(*words)
        self.assertEqual(ran.status, 0, ran.err)
        self.assertRegex(ran.err, "^$" if self.has_kernels() else "on the CPU, not on cuda:0: this build has no kernels")
        return ran.out

    def test_the_plan_says_what_the_device_does_and_what_crosses(self):
        uri, _, _ = self.labelled(5, size=28)
        crossing = 784 if self.has_kernels() else 3136
        info = json.loads(self.converted("info", uri, "--plan", "--json", "--transform", TRANSFORM, *self.device()))
        image = [stage for stage in info["plan"] if stage["field"] == "image"]
        copy = [stage for stage in image if stage["text"] == "copy"]
        self.assertEqual([(stage["runs_on"], stage["bytes_in"]) for stage in copy], [("cuda:0", crossing)])
        work = [stage for stage in image if stage["text"] == "normalize(mnist), chw"]
        self.assertEqual([(stage["runs_on"], stage["bytes_in"], stage["bytes_out"]) for stage in work],
                         [("cuda:0" if self.has_kernels() else "cpu", 784, 3136)])
        self.assertEqual(info["bus_bytes_per_sample"], crossing + 1)
        self.assertEqual([bool(re.search("on the CPU, not on cuda:0: this build has no kernels", each)) for each in info["warnings"]],
                         [] if self.has_kernels() else [True])

    def test_the_plan_has_the_warnings_of_its_making(self):
        self.digits(5)
        words = ["info", "idx:images", "--plan", "--pin_memory", "--cuda_library", shell.FAKE_DRIVER]
        ran = self.run_shell(*words, "--json")
        self.assertEqual(ran.status, 0, ran.err)
        (warning,) = json.loads(ran.out)["warnings"]
        self.assertRegex(warning, "^pin_memory: slots are not page-locked: .*no current primary CUDA context")
        self.assertIn(warning, ran.err)
        self.assertRegex(self.run_shell(*words).out.decode(), r"(?m)^warning +pin_memory: slots are not page-locked")

    def test_what_would_cross_larger_stays_on_the_host(self):
        # A pooled-down result is smaller than what is stored: one float of sixteen crosses.
        self.digits(5)
        stages = json.loads(self.ok("info", "idx:images", "--plan", "--json", "--transform", "center_crop(2)",
                                    *self.device()))
        self.assertEqual(stages["bus_bytes_per_sample"], 4)
        self.assertEqual(stages["plan"][-1]["text"], "copy")

    def test_an_ordinal_that_is_not_there_is_named(self):
        self.digits(3)
        self.fails(1, "bench", "idx:images", *self.device("cuda:99"), says="99")

    def test_indices_are_those_of_the_cpu(self):
        self.digits(50)
        job = ["cat", "idx:images", "--indices", "--shuffle", "full", "--seed", "3", "--epochs", "2"]
        self.assertEqual(self.ok(*job, *self.device()), self.ok(*job))

    def test_bench_tells_the_device_and_the_bus(self):
        uri, _, _ = self.labelled(2000, size=28)
        words = [uri, "--batch_size", "64", "--transform", TRANSFORM, *self.device(), "--seconds", "0.1"]
        result = json.loads(self.converted("bench", *words, "--json"))
        self.assertEqual(result["device"], "cuda:0")
        crossing = (784 if self.has_kernels() else 3136) + 1  # for 3,137 that are delivered
        told = result["bus_gb_per_s"] / result["gb_per_s"]  # of all rounds, and the median of them
        self.assertTrue(0.5 < told / (crossing / 3137) < 2, told)
        self.assertGreater(result["gather_ratio"], 0)
        text = self.converted("bench", *words).decode()
        self.assertTrue(re.search(r"(?m)^device +cuda:0, [\d.]+ GB/s sent to it", text), text)

    def test_bench_takes_a_set_that_lives_on_the_device(self):
        if not self.has_kernels():
            self.skipTest("built without kernels, which io=device needs")
        self.digits(500)
        result = json.loads(self.ok("bench", "idx:images", "--io", "device", *self.device(), "--seconds", "0.1", "--json"))
        self.assertGreater(result["gather_gb_per_s"], 0)


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    shell.main()
