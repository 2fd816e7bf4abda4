#!/usr/bin/env python3
"""What the runner and the table promise, on made-up programs and samples: `bench/run.sh --smoke` begins with it.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "tuning"))

import draw
import drawing
import findings
import kept
import report
import table
import timeline
import turns
from programs import Failed, Program

READY = "print('{\"ready\": [\"some 1\"]}', flush=True)"


def started(test, code):
    program = Program("self_test", "some", [sys.executable, "-c", code])
    test.addCleanup(program.end)
    test.addCleanup(program.process.kill)  # before it: a program that hangs would be given time to leave by itself
    return program


def activity(begin, end, name, stream=7):
    kind = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
    return {"ph": "X", "cat": kind, "ts": 1000 + begin, "dur": end - begin, "name": name, "args": {"stream": stream}}


class TimelinesOfADevice(unittest.TestCase):
    def test_idle_is_where_no_kernel_runs_and_hidden_what_kernels_cover_of_uploads(self):
        line = timeline.Timeline([
            activity(0, 40, "gemm"), activity(30, 50, "relu"), activity(60, 100, "gemm"), activity(45, 65, "Memcpy HtoD", 13),
            activity(90, 100, "Memcpy DtoH"), {"ph": "X", "cat": "cpu_op", "ts": 0, "dur": 9, "name": "aten::mm"}])
        figures = line.figures()
        self.assertAlmostEqual(figures["kernel_us"], 90)
        self.assertAlmostEqual(figures["upload_us"], 20)
        self.assertAlmostEqual(figures["device_idle_percent"], 10)
        self.assertAlmostEqual(figures["upload_hidden_percent"], 50)
        self.assertEqual(len(line.lines(3)), 3)
        self.assertIn("COPY Memcpy HtoD", "\n".join(line.lines(9)))

    def test_nothing_recorded_is_no_division_by_nothing(self):
        self.assertEqual(timeline.Timeline([]).figures(), {"kernel_us": 0, "upload_us": 0, "device_idle_percent": 0.0})

    def test_the_floor_of_the_training_run_is_a_line_of_the_table(self):
        samples = {"whole set on the device": {"epoch_s": [1.0, 1.0]}, "dataline cuda": {"epoch_s": [1.01, 1.03]},
                   "pytorch w0": {"epoch_s": [3.0, 3.0]}}
        lines = table.lines({"rows": {"tuning_cuda": {"samples": samples}}})
        self.assertEqual((lines[0].ratio, lines[0].verdict), ("1.020", "yes"))
        self.assertIn("pytorch w0", lines[2].other)

    def test_the_accelerator_path_is_held_against_the_lesser_of_copying_and_gathering(self):
        samples = {"transfer 64 MiB": {"bare_gb_per_s": [50], "sent_gb_per_s": [49], "sent_of_bare": [0.98], "cores": [3.2],
                                       "gather_gb_per_s": [30], "limit_gb_per_s": [30], "delivered_gb_per_s": [29.4],
                                       "delivered_of_limit": [0.98], "process_cpu_us_per_batch": [900]},
                   "transfer 256 KiB": {"bare_gb_per_s": [20], "cores": [0.2], "limit_gb_per_s": [20]},
                   "device copy": {"gb_per_s": [3000]}}
        lines = table.lines(results(samples, "gpu"))
        self.assertEqual(lines[0].work, "host to device, 256 KiB: copies")
        self.assertEqual((lines[3].work, lines[3].ratio, lines[3].verdict),
                         ("host to device, 64 MiB: whole loader, 900 us CPU a batch", "0.980", "yes"))
        self.assertEqual(lines[3].other, "30 GB/s (the lesser of bare copies and 3 gathering, 30 GB/s)")

    def test_of_the_fake_driver_nothing_is_claimed_and_the_report_says_so(self):
        found = results({"device copy": {"gb_per_s": [3]}, "idle 1 MiB": {"idle_percent": [0]}}, "gpu")
        found["rows"]["gpu"].update({"driver": "fake", "commit": "0", "changed": False, "load_before": 0, "load_after": 0})
        found["machine"] = {"cpu": "some", "cores": 2, "memory_gib": 1, "kernel": "6"}
        self.assertEqual([(line.met, line.short) for line in table.lines(found) if line.met or line.short], [])
        self.assertIn("driver: fake, NO MEASUREMENT", report.heading(found)[0])


class ThePageOfTheTrainingRun(unittest.TestCase):
    SWEEP = {"0": "w0", "1": "w1", "2": "w2", "8": "w8"}

    def found(self, *epochs):
        """What is said of raising num_workers, where they took so long."""
        taken = dict(zip(self.SWEEP.values(), epochs))
        row = table.Row({"samples": {name: {"epoch_s": [seconds, seconds * 1.01]} for name, seconds in taken.items()}})
        return findings.raise_workers(row, self.SWEEP)[1]

    def test_workers_help_up_to_a_number_or_not_at_all(self):
        self.assertEqual(self.found(4, 3, 2, 2.5), "confirmed: it stops at 2; 8 cost time again")
        self.assertEqual(self.found(4, 3, 2, 1.99), "confirmed: it stops at 2; more do no harm here")
        self.assertEqual(self.found(4, 3, 2, 1), "confirmed: it helped as far as 8")
        self.assertTrue(self.found(2, 3, 3, 3).startswith("corrected: it is fastest without workers"))
        self.assertEqual(self.found(2, 2, 1.98, 2), "nothing to raise: no number makes it faster")

    def test_of_a_change_within_what_epochs_differ_by_nothing_is_claimed(self):
        row = table.Row({"samples": {"before": {"epoch_s": [2, 2, 2, 2]}, "after": {"epoch_s": [1, 1.8, 3, 3]},
                                     "clear": {"epoch_s": [1, 1.8, 1.9, 1.9]}, "wild": {"epoch_s": [1, 1.6, 2.4, 3]}}})
        self.assertEqual(findings.change(row, "before", "after")[0], "unclear")
        self.assertEqual(findings.change(row, "before", "clear")[0], "less")
        self.assertEqual(findings.change(row, "before", "wild")[0], "unclear")
        self.assertEqual(findings.change(row, "before", "not measured"), (None, None))

    def test_the_bars_of_the_longest_epoch_fill_the_width(self):
        text = drawing.bars([("some", {"compute": 1.0, "copy": 0.5, "wait": 0.5}), ("less", {"compute": 1.0, "copy": 0.0, "wait": 0.0}),
                             ("none", "only on a GPU")])
        self.assertIn('class="compute" x="4.0" y="48" width="196.0"', text)
        self.assertIn('class="wait" x="298.0" y="48" width="98.0"', text)
        self.assertIn("only on a GPU", text)

    def test_a_run_on_a_gpu_has_a_section_and_drawings_of_its_own(self):
        measured = {"epoch_s": [2.0], "wait_s": [0.5], "copy_s": [0.25], "cpu_s": [2.0], "accuracy_percent": [98.0]}
        entry = {"settings": {"a": "pytorch w0", "e": "whole set on the device"}, "tuned": {}, "versions": {"torch": "2"},
                 "knobs": {"pin_memory": ["pytorch w0", "pytorch w0"]}, "gpu": {"name": "Some Card"}, "data": "MNIST", "time": "2026-01-01",
                 "sweeps": {"pytorch": {"0": "pytorch w0"}, "dataline": {}}, "commit": "0", "changed": False, "load_before": 0,
                 "load_after": 0, "stolen_percent": 0, "rounds": 1,
                 "samples": {"pytorch w0": measured, "whole set on the device": measured}}
        found = {"rows": {"tuning_cuda": entry}, "machine": {"cpu": "some", "cores": 2, "cores_allowed": 2, "kernel": "6"}}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.json"
            path.write_text(json.dumps(found))
            made = draw.files([path])
        page = made[draw.PAGE]
        self.assertIn("Some Card; some, 2 CPUs", page)
        self.assertIn("| 1.25 | 0.25 | 0.50 | 2.00 |", page)
        self.assertIn("`pin_memory=True` and `non_blocking=True` |", page)
        self.assertNotIn("has not run on one yet", page)
        self.assertEqual(sorted(each.name for each in made if each != draw.PAGE),
                         ["tuning-experiment-gpu-workers.svg", "tuning-experiment-gpu.svg"])

    def test_the_page_is_what_is_drawn_of_the_results_that_it_names(self):
        self.assertEqual(draw.stale(), [])


class ProgramsInTurns(unittest.TestCase):
    def test_the_direction_changes_each_round_and_rounds_of_warming_up_do_not_count(self):
        order, values = [], iter(range(100, 200))

        def figure(name):
            order.append(name)
            return {"seconds": next(values)}

        group = turns.Group("some", turns.each({name: lambda name=name: figure(name) for name in "ab"}), warm_up=1,
                            once=lambda: {"a": {"bytes": [7]}})
        self.assertEqual(turns.measure(group, 2), {"a": {"seconds": [102, 105], "bytes": [7]}, "b": {"seconds": [103, 104]}})
        self.assertEqual("".join(order), "baabba")

    def test_a_ratio_is_the_median_of_the_rounds_own(self):
        samples = {"new": {"seconds": [1, 2, 9]}, "old": {"seconds": [2, 2, 3]}}
        lines = turns.tables(turns.Group("some", [], ratios=lambda found: [("seconds", "new", "old")], notes=["a note"]), samples)
        self.assertEqual(lines[1], "a note")
        self.assertIn("| new | seconds | 2 (1 to 9) |", lines)
        self.assertIn("| new | old | seconds | 1 (0.5 to 3) |", lines)


class ResultsFiles(unittest.TestCase):
    def test_a_row_is_one_line_and_is_read_as_it_was_written(self):
        found = {"rows": {"one": {"samples": {"dataline w0": {"rows_per_s": [1.5, 2]}}}, "other": {}}, "machine": {"cpu": "some"}}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.json"
            kept.write(path, found)
            self.assertEqual(kept.read(path), found)
            self.assertIn('\n  "one": {"samples": {"dataline w0": {"rows_per_s": [1.5, 2]}}},\n', path.read_text())

    def test_every_kept_file_is_in_that_form(self):
        for path in (pathlib.Path(__file__).resolve().parent / "results").glob("*.json"):
            self.assertEqual(path.read_text(), kept.text_of(json.loads(path.read_text())), path.name)


class ProgramsThatFail(unittest.TestCase):
    def failure(self, code, limit_s=30):
        program = started(self, f"import sys, time\n{READY}\n{code}")
        program.ready(30)
        with self.assertRaises(Failed) as caught:
            program.round(limit_s)
        return str(caught.exception)

    def test_one_that_hangs_is_named_with_row_limit_and_last_line(self):
        told = self.failure("print('at slot 3', flush=True)\ntime.sleep(600)", limit_s=1)
        self.assertEqual(told, "self_test: some gave no answer in the 1 s it had for a round; its last line: at slot 3")

    def test_one_that_hangs_inside_a_line_is_given_up(self):
        told = self.failure("sys.stdout.write('{\"round\"'); sys.stdout.flush()\ntime.sleep(600)", limit_s=1)
        self.assertIn("gave no answer in the 1 s", told)

    def test_one_that_ends_is_named_with_its_status_and_what_it_said(self):
        told = self.failure("sys.stdin.readline()\nsys.exit('no such file')")
        self.assertIn("ended with status 1 instead of an answer", told)
        self.assertTrue(told.endswith("its last line: no such file"), told)

    def test_one_that_breaks_off_its_answer_is_named_with_its_signal(self):
        told = self.failure("import os\nsys.stdin.readline()\nsys.stdout.write('{\"round\"'); sys.stdout.flush()\n"
                            "os.kill(os.getpid(), 11)")
        self.assertIn("ended with signal SIGSEGV", told)

    def test_an_answer_that_came_in_one_piece_with_other_lines_is_found(self):
        program = started(self, f"import sys\n{READY}\nsys.stdin.readline()\n"
                                "sys.stdout.write('warming up\\n{\"round\": {}}\\n'); sys.stdout.flush()")
        program.ready(30)
        self.assertEqual(program.round(30), {"round": {}})


def results(samples, row="rows_u8_47mb", failed=None):
    return {"rows": {row: {"samples": samples, "notes": {}, "failed": failed or {}}}}


def rates(*values):
    return {"rows_per_s": [value * 1e6 for value in values]}


class TheTable(unittest.TestCase):
    def line(self, found, work):
        return next(line for line in table.lines(found) if line.work == work)

    def test_a_ratio_is_the_median_of_the_rounds_own_and_shows_their_spread(self):
        found = results({"dataline w1": rates(9, 19, 29), "bare gather 1": rates(10, 20, 20)})
        line = self.line(found, "u8 rows, 47 MB, 1 worker")
        self.assertEqual((line.ours, line.ratio, line.verdict, line.spread),
                         ("19 M/s (w1)", "0.95", "yes", "0.9 .. 1.45"))

    def test_two_busy_cores_are_held_against_two_bare_threads(self):
        ours = {**rates(24, 24, 24), "cores": [1.9, 2.0, 2.0]}
        found = results({"dataline w1": ours, "bare gather 1": rates(20, 20, 20),
                         "bare gather 2": {**rates(32, 32, 32), "cores": [2.0, 2.0, 2.0]}})
        line = self.line(found, "u8 rows, 47 MB, 1 worker")
        self.assertEqual((line.ratio, line.verdict), ("0.75", "NO"))
        self.assertIn("(bare gather 2); 2.00 cores busy, CPU seconds 0.75", line.other)

    def test_limits_and_our_own_variants_are_never_the_best_loader(self):
        found = results({"dataline w0": rates(9), "numpy take": rates(8), "torch index_select 1": rates(8),
                         "libtorch stack w0": rates(5), "mlx 2": rates(3), "pytorch batched w0": rates(2)})
        line = self.line(found, "u8 rows, 47 MB, best Python loader")
        self.assertEqual((line.other, line.ratio, line.verdict), ("3 M/s (mlx 2)", "3x", "NO"))
        self.assertEqual(self.line(found, "u8 rows, 47 MB, native loaders").other, "5 M/s (libtorch stack w0)")

    def test_the_usual_pytorch_is_the_faster_of_its_two_forms(self):
        found = results({"dataline w0": rates(9), "pytorch ordinary w0": rates(0.2), "pytorch own dataset w0": rates(0.3),
                         "pytorch batched w0": rates(2)})
        self.assertEqual(self.line(found, "u8 rows, 47 MB, PyTorch as usual").ratio, "30x")

    def test_the_lowest_cpu_of_others_is_what_ours_is_held_against(self):
        found = results({"dataline w0": {"cpu_s_per_gb": [0.5]}, "ffcv 1": {"cpu_s_per_gb": [0.4]},
                         "mlx 2": {"cpu_s_per_gb": [2]}})
        line = self.line(found, "CPU per GB, u8 rows, caller's thread")
        self.assertEqual((line.other, line.verdict), ("0.4 s/GB (ffcv 1)", "NO"))

    def test_one_thread_of_ours_is_held_against_one_thread_of_others(self):
        found = results({"dataline w0": rates(900e-6), "dataline w2": rates(1750e-6), "bare decode 1": rates(1000e-6),
                         "ffcv jpeg 1": rates(400e-6), "ffcv jpeg 2": rates(800e-6)}, "photos")
        line = self.line(found, "JPEG photographs, one thread, best loader")
        self.assertEqual((line.ours, line.other, line.ratio, line.verdict),
                         ("900 images/s (w0)", "400 images/s (ffcv jpeg 1)", "2.25x", "yes"))
        line = self.line(found, "JPEG photographs, 2 workers over one thread")
        self.assertEqual((line.ratio, line.verdict), ("1.94", "yes"))

    def test_rows_that_others_store_are_held_against_the_gather_and_the_best_loader(self):
        found = results({"dataline w0": rates(8), "dataline w1": rates(9), "bare gather 1": rates(10), "pyarrow take": rates(3)}, "arrow")
        self.assertEqual([(line.ratio, line.verdict) for line in table.lines(found)], [("0.80", "yes"), ("0.90", "yes"), ("3x", "yes")])

    def test_a_table_in_memory_is_held_against_the_best_loader_and_numpy_beside_it_is_a_limit(self):
        found = results({"dataline w0": rates(8), "dataline w1": rates(9), "bare gather 1": rates(10), "numpy take": rates(6),
                         "pyarrow take": rates(3), "datasets torch w0": rates(0.3), "datasets streamed w2": rates(0.5)}, "arrow_memory")
        self.assertEqual([(line.ratio, line.verdict) for line in table.lines(found)],
                         [("0.80", ""), ("0.90", ""), ("3x", "yes"), ("18x", "yes"), ("1.5x", "yes")])

    def test_audio_files_are_held_against_loaders_of_as_many_workers(self):
        found = results({"dataline w0": rates(90e-6), "dataline w2": rates(160e-6), "librosa w0": rates(30e-6), "torchcodec w2": rates(80e-6)},
                        "audio")
        self.assertEqual([(line.ours, line.other, line.ratio) for line in table.lines(found)][:2],
                         [("90 files/s (w0)", "30 files/s (librosa w0)", "3x"), ("160 files/s (w2)", "80 files/s (torchcodec w2)", "2x")])

    def test_every_row_of_stored_samples_has_lines(self):
        samples = {"dataline w0": rates(8), "dataline w1": rates(9)}
        for row in ("tfrecord", "mds", "litdata", "arrow", "safetensors", "npz", "megatron", "arrow_memory", "parquet", "parquet_tokens", "parquet_images", "csv", "jsonl", "audio", "audio_mel"):
            self.assertTrue(table.lines(results(samples, row)), row)

    def test_without_a_peer_a_line_claims_nothing(self):
        line = self.line(results({"dataline w0": rates(9)}), "u8 rows, 47 MB, best Python loader")
        self.assertEqual((line.other, line.ratio, line.verdict), ("-", "-", ""))

    def test_who_was_not_measured_stands_below_it(self):
        found = results({"dataline w0": rates(9)}, failed={"ffcv_beton": "rows_u8_47mb: ffcv_beton: no compiler"})
        self.assertTrue(report.plain(found).endswith("not measured:\n  rows_u8_47mb: ffcv_beton: no compiler"))

    def test_where_io_uring_is_forbidden_the_cold_row_says_so(self):
        found = results({name: {"mb_per_s": [value], "resident_before_percent": [0.2]} for name, value in
                         (("dataline w1", 90), ("pread direct 128", 100), ("demand faults", 20))}, "cold")
        found["rows"]["cold"]["notes"] = {"pread direct 128": "io_uring is not allowed here"}
        direct, faults = table.lines(found)
        self.assertEqual(direct.other, "100 MB/s (pread direct 128; io_uring is not allowed here)")
        self.assertEqual((direct.ratio, faults.ratio), ("0.90", "4.5x"))


if __name__ == "__main__":
    unittest.main()
