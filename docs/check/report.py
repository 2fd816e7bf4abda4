"""A report of the shell in a headless Chromium: no error on the console, no request, not wider than a phone, light and dark, text that
stays text.

  report.py DATALINE CHROMIUM FOLDER [--picture FILE URI [OPTION...]]    FOLDER: for what it writes; --picture: also the picture of
                                                                         the README, of a report on URI

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import struct
import subprocess
import sys

from browser import DESK, PAPER, PHONE, WIDER, Visit
from playwright.sync_api import sync_playwright

HOSTILE = "<script>document.title='taken'</script>\"'&"
PICTURE = {"width": 900, "height": 700}


def reports(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    pixels = bytes(range(256)) * (28 * 28 * 64 // 256)
    (folder / "t-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, 64, 28, 28) + pixels)
    spans = [
        {"name": HOSTILE, "ph": "X", "tid": 1, "ts": 10.0 * i, "dur": 9.0, "args": {"epoch": 0, "step": i}}
        for i in range(50)
    ]
    head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
    lines = ",\n".join(json.dumps(span, separators=(",", ":")) for span in spans)
    (folder / "hostile.json").write_text(head + lines + "\n]}\n", encoding="ascii")
    jobs = (
        ("run", ["idx:t-images-idx3-ubyte", "--seconds", "0.5", "--num-workers", "2"]),
        ("trace", ["hostile.json"]),
    )
    for name, words in jobs:
        subprocess.run([program, "report", *words, "-o", name + ".html"], cwd=folder, check=True)
        yield folder / (name + ".html")


def check(browser, page, wrong):
    for viewport, scheme in ((PHONE, "light"), (DESK, "dark")):
        address, name = page.resolve().as_uri(), f"{page.name} ({viewport['width']} px, {scheme})"
        visit = Visit(browser, address, viewport, scheme)
        tab = visit.open(address)
        wrong.extend(f"{name}: {one}" for one in visit.wrong)
        if tab.evaluate(WIDER) > 0:
            wrong.append(f"{name}: {tab.evaluate(WIDER)} px wider than the window")
        if (sum(tab.evaluate(PAPER)) > 384) == (scheme == "dark"):
            wrong.append(f"{name}: the background does not follow the scheme")
        if "taken" in tab.title() or tab.locator("script").count() > 0:
            wrong.append(f"{name}: a name became a script")
        if page.stem == "trace" and HOSTILE not in tab.inner_text("body"):
            wrong.append(f"{name}: the name of a stage is not shown as it is")


def take_picture(browser, program, folder, target, words):
    page = folder / "picture.html"
    subprocess.run([program, "report", *words, "-o", page.resolve()], check=True)
    visit = Visit(browser, page.resolve().as_uri(), PICTURE, "light")
    visit.open(page.resolve().as_uri()).screenshot(path=target)


def main():
    program, chromium, folder = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3])
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for page in reports(program, folder):
            check(browser, page, wrong)
        if "--picture" in sys.argv:
            target, *words = sys.argv[sys.argv.index("--picture") + 1 :]
            take_picture(browser, program, folder, target, words)
        browser.close()
    for one in wrong:
        print(f"FAILED {one}")
    print(f"report: 2 pages twice, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
