"""The C interface: capi/reference, which is made from dataline.h's comments, as pages of the site.

SPDX-License-Identifier: Apache-2.0
"""

import re


def write(source, folder):
    """Copies the pages; the first one lists the others for the menu."""
    folder.mkdir(parents=True)
    names = sorted(path.stem for path in source.glob("*.md") if path.stem != "README")
    for path in source.glob("*.md"):
        text = path.read_text(encoding="utf-8").replace("(README.md)", "(index.md)").replace("README.md#", "index.md#")
        text = re.sub(r"^### ", "## ", text, flags=re.MULTILINE)  # under a page's title
        if path.stem == "README":
            text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
        (folder / ("index.md" if path.stem == "README" else path.name)).write_text(text, encoding="utf-8")
