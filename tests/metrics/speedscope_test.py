#!/usr/bin/env python3
"""speedscope itself (npm's) opens a trace: each thread is a profile with its name and its time.

    speedscope_test.py PROGRAM     the shell `dataline`; 77 without npm, its registry, or Chromium
SPDX-License-Identifier: Apache-2.0
"""

import base64
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

VERSION = "1.25.0"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-headless-shell") or shutil.which("google-chrome")


def skip(why):
    """Ends with 77."""
    print(f"skipped: {why}")
    sys.exit(77)


def fetch(folder):
    """The page of speedscope, which needs no server."""
    done = subprocess.run(
        ["npm", "pack", f"speedscope@{VERSION}", "--silent"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        skip("npm's registry has no speedscope for us")
    with tarfile.open(next(folder.glob("speedscope-*.tgz"))) as package:
        package.extractall(folder)
    return folder / "package" / "dist" / "release"


def shown(page, trace):
    """The text of the page once it has loaded the trace."""
    profile = page / "profile.js"
    profile.write_text(f"speedscope.loadFileFromBase64('trace.json', '{base64.b64encode(trace).decode()}')")
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=swiftshader", "--allow-file-access-from-files",
             "--virtual-time-budget=20000", "--dump-dom", f"file://{page}/index.html#localProfilePath={profile}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    return html.unescape(re.sub(r"<[^>]*>", "\n", done.stdout))


def main():
    """See above."""
    if not shutil.which("npm") or not CHROMIUM:
        skip("there is no npm or no Chromium")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = fetch(folder)
        (folder / "rows").write_bytes(bytes(1 << 20))
        trace = folder / "trace.json"
        subprocess.run(
            [sys.argv[1], "cat", f"raw:{folder}/rows?dtype=u8&shape=1024", "--num-workers", "2", "--trace", str(trace)],
            check=True, stdout=subprocess.DEVNULL,
        )
        text = shown(page, trace.read_bytes())
        for track in ("consumer (tid 0)", "worker 0 (tid 1)"):
            found = re.search(rf"dataline \(pid 1\), {re.escape(track)}\s+([\d.]+)(ms|µs|s)\b", text)
            assert found and float(found[1]) > 0, text[-2000:]
        assert "trace.json - speedscope" in text and "Something went wrong" not in text, text[-2000:]
        other = shown(page, trace.read_bytes().replace(b"worker 0", b"another"))  # that this test can fail
        assert "worker 0" not in other and "another (tid 1)" in other, other[-2000:]
    print(f"speedscope {VERSION} shows the consumer and the workers, and their time")


if __name__ == "__main__":
    main()
