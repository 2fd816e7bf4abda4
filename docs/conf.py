"""Settings of the site: Sphinx with MyST (Markdown) and Furo. docs/build.sh builds it; nothing comes from other hosts.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib

project = "Dataline"
author = "The Dataline authors"
copyright = "The Dataline authors. Apache-2.0"  # the name that Sphinx wants
release = version = os.environ.get("DATALINE_DOCS_VERSION", "")

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # [text](page.md#a-heading) is checked
nitpicky = True

html_theme = "furo"
html_title = "Dataline"
html_favicon = "pages/_static/favicon.svg"
html_static_path = [str(pathlib.Path(__file__).parent / "pages/_static")]
html_css_files = ["style.css"]
html_show_sphinx = False
html_copy_source = False
# Summaries of search results are fetched page by page, which a browser refuses for files; titles are in the index.
html_show_search_summary = False
html_theme_options = {"navigation_with_keys": True, "source_repository": "", "footer_icons": []}
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
pygments_dark_style = "monokai"
