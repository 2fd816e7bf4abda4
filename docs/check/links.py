"""Links lead somewhere: on the built site, in the READMEs, and from the site to files of the repository.

  links.py SITE ROOT

On the site every link to a page, an anchor or a file is followed, and nothing may be loaded from another host. In Markdown
of the tracked folders relative links must name a file. A link to the repository's host must name a file that is here.

SPDX-License-Identifier: Apache-2.0
"""

import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

REPOSITORY = re.compile(r"https://github\.com/dataline/dataline/(?:blob|tree)/main/([^\s)#\"]+)")
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.foreign = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                away = urllib.parse.urlparse(value).scheme in ("http", "https") or value.startswith("//")
                if away and (tag, name) in LOADED:
                    self.foreign.append(value)
                if not away and not value.startswith(("mailto:", "data:", "javascript:")):
                    self.links.append(value)


def check_site(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong, links = [], 0
    for path, page in pages.items():
        wrong += [f"{path.relative_to(site)}: loads {one}" for one in page.foreign]
        for link in page.links:
            links += 1
            place, _, anchor = link.partition("#")
            target = (path.parent / urllib.parse.unquote(place.partition("?")[0])).resolve() if place else path
            if not target.exists():
                wrong.append(f"{path.relative_to(site)}: {link}: no such file")
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(site)}: {link}: no such anchor")
    return wrong, links, len(pages)


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def listed_by_git(root):
    """Nothing where there is no git, or no checkout of it."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.md"]
    try:
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout.split()
    except FileNotFoundError:
        return []


def check_markdown(root):
    paths = [root / name for name in listed_by_git(root)] or [
        path for path in root.rglob("*.md") if not {"build", "target"} & set(path.relative_to(root).parts)
    ]
    wrong, links = [], 0
    for path in paths:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            # Pages, and the texts that generated pages begin with, are checked as they are built.
            if urllib.parse.urlparse(link).scheme or any(part in str(path) for part in ("docs/pages", "docs/reference/about")):
                continue
            links += 1
            place, _, anchor = link.partition("#")
            target = (path.parent / urllib.parse.unquote(place)).resolve() if place else path
            if not target.exists():
                wrong.append(f"{path.relative_to(root)}: {link}: no such file")
            elif anchor and target.suffix == ".md":
                headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                if anchor not in map(anchor_of, headings):
                    wrong.append(f"{path.relative_to(root)}: {link}: no such heading")
        named = REPOSITORY.findall(path.read_text(encoding="utf-8"))
        wrong += [
            f"{path.relative_to(root)}: {one} is not in the repository" for one in named if not (root / one).exists()
        ]
    return wrong, links


def main():
    site, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    wrong, links, pages = check_site(site)
    more, written = check_markdown(root)
    for one in wrong + more:
        print(f"FAILED {one}")
    print(f"links: {links} on {pages} pages, {written} in READMEs, {len(wrong + more)} wrong")
    return bool(wrong + more) or pages < 20


if __name__ == "__main__":
    sys.exit(main())
