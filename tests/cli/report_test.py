"""report: one page about a run or a trace, that asks for nothing and takes no data for markup.

SPDX-License-Identifier: Apache-2.0
"""

import html.parser
import json
import os
import re
import struct

import shell
from shell import ShellTest


class Page(html.parser.HTMLParser):
    """The elements and the text of a page, and what it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.fetched, self.words, self.open = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)
        self.fetched += [value for key, value in attributes if key in ("src", "href", "action", "data")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)


class Report(ShellTest):
    def numbers(self, name="a.npy", rows=1000):
        self.npy(name, "<u8", (rows,), struct.pack(f"<{rows}Q", *range(rows)))
        return "npy:" + name

    def page(self, *words):
        self.ok("report", *words, "-o", "page.html")
        text = self.read("page.html").decode()
        page = Page(text)
        self.assertEqual(page.open, [], "every element is closed")
        self.assertNotIn("script", page.tags)
        self.assertTrue(all(one.startswith("data:") for one in page.fetched), page.fetched)
        self.assertNotIn("@import", text)
        self.assertNotRegex(text, r"url\((?!data:)")
        return text, " ".join(" ".join(page.words).split())

    def test_of_a_uri_it_says_who_waits_and_where_the_time_goes(self):
        text, words = self.page(self.numbers(), "--seconds", "0.3", "--batch-size", "16", "--num-workers", "2", "--consumer-ms", "2")
        self.assertRegex(words, r"The consumer waits \d+(\.\d)? % of the time")
        for part in ("Time line", "worker 0", "worker 1", "data: copy", "CPUs busy", "Calls to next", "below", "Plan", "batch_size 16 32", "num_workers 2 auto"):
            self.assertIn(part, words)
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertLess(len(text), 3_000_000)

    def test_what_it_advises_agrees_with_the_cpus_that_were_busy(self):
        for workers in (0, 1, 2):
            _, words = self.page(self.numbers(rows=100_000), "--seconds", "0.5", "--batch-size", "64", "--num-workers", str(workers))
            busy, cpus = re.search(r"CPUs busy, of those this process may use ([\d.]+) of ([\d.]+)", words).groups()
            self.assertGreater(float(busy), 0.01, "also where the consumer does the work")
            self.assertNotIn("All cores", words)
            advised = re.search(r"The job keeps ([\d.]+) of ([\d.]+) CPUs busy([^.]|\.\d)*\.", words)
            if advised:
                self.assertEqual(advised.groups()[:2], (busy, cpus))
                self.assertEqual("cheaper" in advised[0], float(busy) >= 0.85 * float(cpus), advised[0])

    def test_a_time_line_that_is_as_large_as_a_page_holds_says_how_much_it_shows(self):
        uri = self.numbers(rows=100_000)
        ran = self.run_shell("report", uri, "--seconds", "5", "--batch-size", "1", "--num-workers", "0", "-o", "page.html")
        self.assertEqual((ran.status, ran.err), (0, ""))
        words = " ".join(" ".join(Page(self.read("page.html").decode()).words).split())
        self.assertRegex(words, r"It shows the first [\d.]+ m?s of 5\.\d\d s, the limit of a page")

    def test_a_consumer_that_hardly_waits_is_told_that_nothing_is_to_gain(self):
        head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
        span = '{"name":"%s","ph":"X","pid":1,"tid":0,"ts":%d,"dur":%d,"args":{"epoch":0,"step":%d}},\n'
        for wait_us, share, keeps_up in ((5, "0.5", True), (50, "4.8", False)):
            steps = "".join(span % ("next", 2000 * i, wait_us, i) + span % ("step", 2000 * i + wait_us, 1000, i) for i in range(20))
            self.write("t.json", head + steps + "]}\n")
            _, words = self.page("t.json")
            self.assertIn(f"The consumer waits {share} % of the time", words)
            self.assertEqual("loading keeps up" in words, keeps_up, words)

    def test_of_a_trace_it_tells_what_that_holds(self):
        self.ok("cat", self.numbers(), "--trace", "t.json", "--batch-size", "16", "-o", "out")
        _, words = self.page("t.json")
        self.assertRegex(words, r"a trace of [\d.]+ [mu]?s, \d+ spans")
        for part in ("consumer", "worker 0", "data: copy", "The longest waits", "epoch 0, step"):
            self.assertIn(part, words)
        self.assertNotIn("Options", words)

    def test_a_trace_that_was_cut_is_told_as_far_as_it_goes(self):
        self.ok("cat", self.numbers(), "--trace", "t.json", "--batch-size", "16", "-o", "out")
        whole = self.read("t.json")
        for cut in (len(whole) // 2, len(whole) - 3):
            self.write("cut.json", whole[:cut])
            _, words = self.page("cut.json")
            self.assertIn("a trace of", words)

    def test_times_that_cannot_be_and_endless_lines_are_left_out(self):
        head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
        span = '{"name":"read","ph":"X","pid":1,"tid":1,"ts":%s,"dur":%s,"args":{"epoch":0,"step":0}},\n'
        wrong = [("inf", "1"), ("nan", "1"), ("-1", "1"), ("1e300", "1"), ("5", "inf"), ("5", "nan"), ("5", "1e300"), ("5", "-2"), ("-inf", "nan")]
        good = "".join(span % (10.0 * i, 9.0) for i in range(20))
        for lines in ([good, *(span % one for one in wrong)], [*(span % one for one in wrong), good]):
            self.write("t.json", head + "".join(lines) + "x" * 50_000_000 + "\n]}\n")
            text, words = self.page("t.json")
            self.assertIn("20 spans", words)
            self.assertIn("10 lines of the trace are not shown", words)
            self.assertNotRegex(text, r"\b(nan|inf)\b")

    def test_names_of_fields_and_files_stay_text(self):
        hostile = "<script>alert('1')</script>\"&\n\x01"
        events = [{"name": hostile, "ph": "X", "pid": 1, "tid": 1, "ts": 1000.0 * i, "dur": 900.0, "args": {"epoch": 0, "step": i}} for i in range(9)]
        events.append({"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": hostile}})
        head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
        lines = [json.dumps(one, separators=(",", ":")) for one in events]
        self.write("<b>'\".json", head + ",\n".join(lines) + "\n]}\n")
        text, words = self.page("<b>'\".json")
        self.assertIn("<script>alert('1')</script>\"&", words)
        self.assertIn("<b>'\".json", words)
        self.assertNotIn("\x01", text)

    def test_a_million_spans_of_many_names_and_tracks_make_a_page_of_bounded_size(self):
        head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
        with open(self.path("big.json"), "w", encoding="ascii") as file:
            file.write(head)
            for i in range(1_000_000):
                file.write(f'{{"name":"stage {i % 1000}","ph":"X","pid":1,"tid":{i % 100},"ts":{i}.000,"dur":3.000,"args":{{"epoch":0,"step":{i}}}}},\n')
            file.write("]}\n")
        text, words = self.page("big.json")
        self.assertLess(len(text), 4_000_000)
        self.assertIn("other", words)
        self.assertIn("lines of the trace are not shown", words)

    def test_pictures_are_shown_and_where_there_are_none_it_says_why(self):
        self.write("i-images-idx3-ubyte", struct.pack(">4I", 0x803, 20, 28, 28) + bytes(range(196)) * 80)
        text, _ = self.page("idx:i-images-idx3-ubyte", "--seconds", "0.1")
        self.assertIn('src="data:image/png;base64,iVBOR', text)
        _, words = self.page(self.numbers(), "--seconds", "0.1")
        self.assertIn("No pictures:", words)

    def test_bad_samples_are_counted_and_named(self):
        os.mkdir(self.path("folder"))
        for name, content in (("a.jpg", b"\xff\xd8\xff no"), ("b.jpg", b"\xff\xd8\xff no")):
            self.write("folder/" + name, content)
        ran = self.run_shell("report", "folder:folder", "--transform", "decode", "--seconds", "0.2", "--on-error", "quarantine", "-o", "page.html")
        self.assertEqual(ran.status, 1, "no sample can be had")
        self.assertRegex(ran.err, r"^dataline: .*\n")

    def test_wrong_commands_say_what_is_wrong(self):
        uri = self.numbers()
        self.fails(2, "report", uri, says="-o report.html")
        self.fails(2, "report", uri, "-o", "p.html", "--consumer-ms", "-1", says="--consumer-ms: expected 0 to 60000")
        self.fails(2, "report", uri, "-o", "p.html", "--seconds", "0", says="seconds")
        self.fails(1, "report", "npy:none.npy", "-o", "p.html", says="none.npy")
        self.fails(1, "report", uri, "-o", "none/p.html", says="none")
        self.write("x.json", "{}")
        self.fails(1, "report", "x.json", "-o", "p.html", says="x.json: expected a trace that trace=FILE wrote")
        self.write("t.json", '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n]}\n')
        self.fails(1, "report", "t.json", "-o", "p.html", says="has no spans")
        self.ok("cat", uri, "--trace", "u.json", "-o", "out")
        self.fails(2, "report", "u.json", "--batch-size", "3", "-o", "p.html", says="--batch-size")
        self.assertFalse(os.path.exists(self.path("p.html")))

    def test_to_standard_output(self):
        out = self.ok("report", self.numbers(), "--seconds", "0.1", "-o", "-")
        self.assertTrue(re.match(rb"<!doctype html>", out))


if __name__ == "__main__":
    shell.main()
