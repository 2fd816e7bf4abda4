"""Every page of the built site in a headless Chromium: no error on the console, no request to another host, nothing wider
than the window of a phone (390 px), light and dark; the search finds a page, from files and from a server.

  browser.py SITE CHROMIUM [--pictures DIR]     --pictures: keeps pictures of some pages, to be looked at

SPDX-License-Identifier: Apache-2.0
"""

import functools
import http.server
import pathlib
import sys
import threading

from playwright.sync_api import sync_playwright

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
# Windows in which code on cards and tabs is shown whole, without a bar to scroll it.
WHOLE = ({"width": 1200, "height": 900}, {"width": 1366, "height": 900}, {"width": 1600, "height": 900})
CUT = """() => [...document.querySelectorAll('.sd-card pre, .sd-tab-content pre')]
  .filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.trim().slice(0, 40))"""
SHOWN = (
    "index",
    "quickstart/python",
    "coming-from/pytorch",
    "reference/transforms",
    "how-it-works",
    "reference/c/loaders",
)
WIDER = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""
CULPRITS = """() => {
  const scrolls = e => e && (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  const wide = e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement);
  return [...document.querySelectorAll('article *')].filter(wide).slice(0, 3)
    .map(e => e.tagName + ': ' + e.textContent.slice(0, 60));
}"""
PAPER = """() => getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)"""


class Visit:
    """A tab that notes what goes wrong in it."""

    def __init__(self, browser, start, viewport, scheme):
        self.wrong = []
        self.page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
        self.page.on(
            "console", lambda message: message.type == "error" and self.wrong.append(f"console: {message.text}")
        )
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on(
            "request",
            lambda request: request.url.startswith((start, "data:")) or self.wrong.append(f"asks for {request.url}"),
        )

    def open(self, url):
        self.wrong.clear()
        self.page.goto(url, wait_until="load")
        return self.page


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Says nothing."""


def serve(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


def check_page(visit, url, dark, wrong, name):
    page = visit.open(url)
    over = page.evaluate(WIDER)
    if over > 0:
        wrong.append(f"{name}: {over} px wider than the window: {page.evaluate(CULPRITS)}")
    light = sum(page.evaluate(PAPER)) > 384
    if light == dark:
        wrong.append(f"{name}: the background does not follow the {'dark' if dark else 'light'} scheme")
    wrong.extend(f"{name}: {one}" for one in visit.wrong)


def check_search(visit, start, wrong, name):
    page = visit.open(start + "index.html")
    page.fill("input[name=q]", "quarantine")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("#search-results li a", timeout=20000)
    found = page.locator("#search-results li a").all_inner_texts()
    if not any("Bad data" in one for one in found):
        wrong.append(f"search ({name}): {found[:5]}")
    page.locator("#search-results li a", has_text="Bad data").first.click()
    page.wait_for_selector("h1:has-text('Bad data')")
    wrong.extend(f"search ({name}): {one}" for one in visit.wrong)


def main():
    site, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    pictures = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1]) if "--pictures" in sys.argv else None
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if "_static" not in path.parts)
    server, address = serve(site)
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        files = site.as_uri() + "/"
        for viewport, scheme in ((PHONE, "light"), (DESK, "dark")):
            visit = Visit(browser, files, viewport, scheme)
            for name in pages:
                check_page(visit, files + name, scheme == "dark", wrong, f"{name} ({viewport['width']} px, {scheme})")
                if pictures and name.removesuffix(".html") in SHOWN:
                    pictures.mkdir(parents=True, exist_ok=True)
                    visit.page.screenshot(
                        path=pictures
                        / f"{name.removesuffix('.html').replace('/', '-')}-{viewport['width']}-{scheme}.png",
                        full_page=viewport is PHONE,
                    )
        for viewport in WHOLE:
            visit = Visit(browser, files, viewport, "light")
            for name in pages:
                page = visit.open(files + name)
                cut, over = page.evaluate(CUT), page.evaluate(WIDER)
                wrong.extend(f"{name} ({viewport['width']} px): code is cut: {code}" for code in cut)
                if over > 0:
                    wrong.append(f"{name} ({viewport['width']} px): {over} px wider than the window")
        check_search(Visit(browser, files, DESK, "light"), files, wrong, "from files")
        check_search(Visit(browser, address, DESK, "dark"), address, wrong, "from a server")
        browser.close()
    server.shutdown()
    for one in wrong:
        print(f"FAILED {one}")
    print(f"browser: {len(pages)} pages twice, search twice, {len(wrong)} wrong")
    return bool(wrong) or len(pages) < 20


if __name__ == "__main__":
    sys.exit(main())
