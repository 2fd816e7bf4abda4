"""The live line of bench and cat on a terminal: what it says, how wide it is, how it ends.

SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import shell
from shell import ShellTest

GONE = b"\r\x1b[K"
CLOCK = r"(\d+:)?\d\d:\d\d"
RATE = r"[\d.]+( [kMG])? samples/s"
BYTES = r"[\d.]+ [kMG]?B/s"
ENDLESS = ("--batch_size", "1", "--epochs", "0")


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def shown(text):
    """The lines that were drawn, one over the other."""
    return [line.decode() for line in re.split(rb"[\r\n]+(?:\x1b\[K)?", text) if line]


class Terminal(ShellTest):
    def open(self, *words, columns=160, out=subprocess.DEVNULL, **environment):
        """A run whose standard error is a terminal, and our end of that."""
        ours, theirs = pty.openpty()
        resize(theirs, columns)
        environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        process = self.start(*words, stdout=theirs if out is None else out, stderr=theirs, env=environment)
        os.close(theirs)
        return process, ours

    def seen(self, *words, until=None, then=None, status=(0,), **keywords):
        """What the terminal shows. Once `until` is there, `then(process, terminal)` is called."""
        process, ours = self.open(*words, **keywords)

        def look(text):
            nonlocal until
            if until and re.search(until.encode(), text):
                until = None
                then(process, ours)

        text = shell.read_terminal(ours, look)
        self.assertIn(process.wait(shell.SECONDS), status, text)
        self.assertIsNone(until, text)
        return text


def interrupt(process, _):
    process.send_signal(signal.SIGINT)


class LiveLine(Terminal):
    def test_cat_says_position_rate_waiting_and_the_time_left(self):
        self.digits(1000)
        line = rf"cat: epoch [\d,]+, step [\d,]+ of 1,000: +\d+%\|[█▏▎▍▌▋▊▉ ]+\| \[{CLOCK}<{CLOCK}, {RATE}, waited [\d.]+ %, {BYTES}\]"
        text = self.seen("cat", "idx:images", "--batch_size", "1", "--epochs", "100000", "--num_workers", "1",
                         until=line, then=interrupt, status=(130,))
        self.assertTrue(text.endswith(GONE), text[-80:])
        self.assertNotIn(b"\n", text)

    def test_a_run_without_an_end_has_no_bar_and_no_time_left(self):
        self.digits(1000)
        line = rf"cat: epoch [\d,]+, step [\d,]+ of 1,000 \[{CLOCK}, {RATE}, waited [\d.]+ %, {BYTES}\]"
        self.seen("cat", "idx:images", *ENDLESS, "--num_workers", "1", until=line, then=interrupt, status=(130,))

    def test_batches_say_where_a_run_ends(self):
        self.digits(1000)
        text = self.seen("cat", "idx:images", *ENDLESS, "--batches", "2000000", until=r"\]\r.*\d%.*\r.*\d%",
                         then=interrupt, status=(130,))
        shares = [int(share) for share in re.findall(rb" (\d+)%", text)]
        self.assertEqual(shares, sorted(shares))
        self.assertLessEqual(shares[-1], 100)

    def test_without_workers_nothing_waits(self):
        self.digits(1000)
        line = rf"cat: [^\[]*\[{CLOCK}, {RATE}, {BYTES}\]"
        self.seen("cat", "idx:images", *ENDLESS, "--num_workers", "0", until=line, then=interrupt, status=(130,))

    def test_bench_says_the_round_and_what_is_left(self):
        self.digits(1000)
        line = rf"bench: round 3 of 15, epoch [\d,]+, step [\d,]+ of 32: +\d+%\|.*\| \[{CLOCK}<{CLOCK}, {RATE}, waited [\d.]+ %, {BYTES}\]"
        text = self.seen("bench", "idx:images", "--seconds", "0.1", columns=200)
        self.assertRegex(text.decode(), line)
        self.assertTrue(text.endswith(GONE), text[-80:])

    def test_a_terminal_without_utf8_gets_a_bar_of_hashes(self):
        self.digits(1000)
        text = self.seen("bench", "idx:images", "--seconds", "0.1", LC_ALL="C", columns=200)
        self.assertRegex(text, rb"%\|###+ +\| \[")
        text.decode("ascii")

    def test_it_is_as_wide_as_the_terminal_is_at_each_moment(self):
        self.digits(1000)
        for columns in (1, 2, 20, 40, 79, 100, 300):
            for line in shown(self.seen("bench", "idx:images", "--seconds", "0.03", columns=columns)):
                self.assertLess(len(line), columns if columns > 1 else 80, columns)

    def test_a_terminal_that_is_made_narrower_gets_narrower_lines(self):
        self.digits(1000)
        process, ours = self.open("cat", "idx:images", *ENDLESS)
        wide = []  # the lines there were when it became narrow, then when it was told to stop; several may come at once

        def look(text):
            lines = shown(text)
            if len(lines) >= 2 and not wide:
                resize(ours, 30)
                wide.append(len(lines))
            elif len(wide) == 1 and len(lines) >= wide[0] + 4:
                process.send_signal(signal.SIGINT)
                wide.append(len(lines))

        lines = shown(shell.read_terminal(ours, look))
        self.assertEqual(process.wait(shell.SECONDS), 130)
        self.assertGreater(len(lines[0]), 60)
        self.assertLess(len(lines[wide[0] + 3]), 30)

    def test_it_stays_true_while_the_loader_is_what_is_slow(self):
        # One batch, which takes much longer than the interval of the line: it is drawn while the batch is awaited.
        with open(self.path("pixels"), "wb") as file:
            file.truncate(64 * 3 * 512 * 512)
        text = self.seen("cat", "raw:pixels?dtype=u8&shape=3x512x512&axes=CHW", "--batch_size", "64", "--num_workers", "1", "--transform",
                         "resize(600), color_jitter(0.4, 0.4, 0.4, 0.1), gaussian_blur(9), center_crop(8)",
                         until="step 0 of 1:   0%.*waited [1-9]", then=lambda *_: None)
        self.assertTrue(text.endswith(GONE), text[-80:])


class Ends(Terminal):
    def test_an_error_follows_on_a_line_of_its_own(self):
        uri, _, _ = self.labelled(100)
        for command in (("bench", uri, "--seconds", "0.05"), ("cat", uri, "--field", "label")):
            text = self.seen(*command, "--transform", "label: one_hot(3)", status=(1,))
            self.assertRegex(text.split(GONE)[-1] if GONE in text else text, rb"^dataline: [^\r\x1b]*step 0[^\r]*\r\n$")

    def test_a_second_interrupt_leaves_no_line_behind(self):
        self.digits(1000)
        reader, writer = os.pipe()  # nobody reads: the write blocks, and the first Ctrl-C gives it a second

        def twice(process, _):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)

        text = self.seen("cat", "idx:images", "--batch_size", "1000", "--epochs", "0", until="cat: ", then=twice, out=writer,
                         status=(130,))
        os.close(writer)
        os.close(reader)
        self.assertTrue(text.endswith(GONE), text[-80:])

    def test_no_line_stays_when_the_terminal_is_stopped_during_an_interrupt(self):
        self.digits(1000)

        def interrupt_while_stopped(process, terminal):
            os.write(terminal, b"\x13")  # Ctrl-S
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            os.write(terminal, b"\x11")  # Ctrl-Q

        text = self.seen("cat", "idx:images", *ENDLESS, "--num_workers", "1", until="cat: ", then=interrupt_while_stopped, status=(130,))
        self.assertTrue(text.endswith(GONE), text[-80:])


class Nothing(Terminal):
    def test_when_the_same_terminal_shows_the_output(self):
        self.digits(1000)
        text = self.seen("cat", "idx:images", "--indices", "--num_workers", "0", "--epochs", "100", out=None)
        self.assertEqual(len(text.split()), 100_000)

    def test_on_a_stderr_that_is_no_terminal(self):
        self.digits(1000)
        process = self.start("cat", "idx:images", "--epochs", "0")
        process.stdout.read(50_000_000)
        process.stdout.close()
        self.assertEqual((process.wait(shell.SECONDS), process.stderr.read()), (0, b""))

    def test_with_quiet_json_or_a_terminal_that_cannot_rewrite_a_line(self):
        self.digits(1000)
        for words, environment in ((["--quiet"], {}), (["--json"], {}), ([], {"TERM": "dumb"})):
            text = self.seen("bench", "idx:images", "--seconds", "0.05", *words, **environment)
            self.assertEqual(text, b"", words)


if __name__ == "__main__":
    shell.main()
