"""Plain English in what users read: no phrase that sounds translated, few sentences that are too long.

  check_english.py ROOT             checks the tree
  check_english.py ROOT FILE...     only what these files have, and where
  check_english.py --self-test      proves that it can fail

What users read: Markdown outside of tests, bench and core; dataline.h; string literals and documentation comments of the library, the
bindings and the plug-ins. There the count of phrases is 0. Everywhere else, comments for those who change the code, it may only fall:
english_rest.txt has the highest count of each folder.

Each phrase is a regular expression with what to write in its place. They are chosen so that good English passes: "there is no file",
"at most", "a whole number".

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import sys

import tree

MAX_WORDS = 30         # of a sentence
MAX_LONG_SHARE = 0.03  # of the sentences of a text

NOT_NEGATED = "longer|more|less|fewer|larger|smaller|earlier|later|sooner|better|worse|different|other|one|harm|help"

# (expression, what to write)
PHRASES = [
    (r"\b(?:tell|tells|told|telling)\b", "notify, report, show, return, distinguish"),
    (r"\b(?:go|goes|went|gone|going) on\b", "continue, resume"),
    (r"\b(?:let|lets|letting) go\b", "release, drop"),
    (r"\b(?:gives?|gave|giving) (?:back|out)\b|\bgiven back\b|\bgives\b|\bgave\b", "return, provide, pass, release"),
    (r"\b(?:is|are|was|were|be|been|being) given(?! by| as| in| with| at)\b", "pass, provide, set, receive"),
    (r"\b(?:takes?|took) (?:no|none)\b", "does not accept"),
    (r"\b(?:says|said)\b", "states, specifies, reports, names, see"),
    (rf"(?<!\bthere )(?<!\bThere )(?<!\bthere'd )\b(?:is|are|was|were|be) no (?!(?:{NOT_NEGATED})\b)[a-z`]", "is not a, are not"),
    (r"(?:^|(?<=[.!?] )|(?<=[.!?]\n))Of (?:a|an|two|three|several|many|the|each|all|both|these|those|this|that|its|what|whatever|such|one)\b",
     "start with the subject; For X, Among X"),
    (r"\bwhat(?:ever)? (?:is|was|remains) left\b|\bwhat (?:is|was) over\b", "the rest, the remainder"),
    (r"\b(?:stands?|stood|standing) (?:for|in|behind|at|there|before|beside|on|under|between|first|last|alone)\b",
     "represents, is listed in, follows, is stored in"),
    (r"\b(?:lies|lay|lying|lie) (?:in|behind|at|on|there|before|beside|beyond|within|under|between|after|where|open|together|apart|side)\b",
     "is stored in, is in, follows, is outside of"),
    (r"\bspeaks? of\b|\bspoken of\b", "mention, name"),
    (r"\bat once\b", "immediately; in one call; simultaneously"),
    (r"\bby (?:itself|themselves)\b", "automatically; alone"),
    (r"\b(?:asked|asks?|asking) for\b", "request"),
    (r"\b(?:is|are|was|were|read|written|sent|kept|comes?) whole\b", "complete, entire"),
    (r"\bas long as it takes\b", "without a time limit"),
    (r"\b(?:calm|hunger|hungry|strangers?)\b", "idle, demand, foreign"),
    (r"\b(?:is|are|was|as|to|be) the (?:most|least)\b(?! (?:common|recent|likely|important|expensive))", "the maximum, the minimum, the limit"),
    (r"\bthe (?:most|least) (?:that|there|it|of)\b", "the maximum, the minimum"),
    (r"\b[Ww]hat (?:is|are|was) (?:\w+ ){1,3}is\b(?! not\b)", "name the subject"),
    (r"\bthat of (?:those|that|the one)\b|\bthose (?:which|whose)\b|\b[Ww]hoever\b|\b[Ww]hosoever\b", "name the thing"),
    (r"\banew\b", "again; restart"),
    (r"\bin (?:its|their) midst\b", "in the middle of; while"),
    (r"\bto and fro\b", "back and forth"),
    (r"\b(?:nobody|no one|none) (?:is|was) given\b", "is not delivered"),
    (r"\b(?:begins?|began|begun|beginning) with\b", "start with, start at"),
    (r"\bat (?:its|their) place\b|\bin (?:its|their) place\b", "instead; at the same position"),
    (r"\b(?:the|a|an) (?:host|caller|user|library|loader|consumer|reader|writer|worker|trainer)'s(?=[.,;:)]|$)", "name the thing that the host owns"),
    (r"\bof the (?:host|caller|user|library|loader|consumer|reader|writer|worker|trainer)'s\b", "owned by the host; the host's X"),
    (r"\bfor ever\b", "forever; without a limit"),
    (r"\bmade of\b(?! (?:steel|glass))", "built from, created by"),
    (r"\bas it stands\b|\bas they stand\b", "unchanged"),
]
COMPILED = [(re.compile(expression, re.MULTILINE), instead) for expression, instead in PHRASES]

SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')\]]*\s+(?=[A-Z`\"'(\[])")


def phrases(paragraph):
    """(offset, the phrase, what to write) of each phrase in a paragraph."""
    return sorted((match.start(), match.group(0).strip(), instead) for expression, instead in COMPILED
                  for match in expression.finditer(paragraph))


def sentence_lengths(paragraph):
    """The words of each sentence."""
    counts = [len(re.findall(r"\S*\w\S*", sentence)) for sentence in SENTENCE_END.split(paragraph)]
    return [count for count in counts if count > 0]


def joined(lines):
    """(number, text) of each paragraph of (number, line): what no empty line divides."""
    found, open_ = [], False
    for number, line in lines:
        text = line.strip()
        if text and open_:
            found[-1] = (found[-1][0], found[-1][1] + " " + text)
        elif text:
            found.append((number, text))
        open_ = bool(text)
    return found


def markdown_paragraphs(text):
    """Without code, HTML tags and addresses of links. A heading, an item of a list and a cell of a table are paragraphs."""
    lines, fence, comment = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+|:::+)", line)
        if mark and fence is None and not mark.group(1).startswith(":"):
            fence = mark.group(1)
            lines.append((number, ""))
            continue
        if fence is not None:
            fence = None if mark and line.strip() == fence else fence
            continue
        comment = comment or line.lstrip().startswith("<!--")
        if comment:
            comment = "-->" not in line
            continue
        line = re.sub(r"\]\([^)]*\)|<[^>]+>", lambda match: "]" if match.group(0)[0] == "]" else " ", line)
        line = re.sub(r"`[^`]*`", "`x`", line)
        if re.match(r"\s*(?:#|\||(?:[-*+]|\d+\.)\s|:::|>)", line):
            lines.append((number, ""))
        cells = line.split("|") if line.lstrip().startswith("|") else [line]
        for cell in cells:
            cell = re.sub(r"^\s*(?:#+|[-*+]|\d+\.|>)\s", "", cell)
            lines += [(number, cell)] if len(cells) == 1 else [(number, cell), (number, "")]
        if re.match(r"\s*#", line):
            lines.append((number, ""))
    return joined(lines)


def comment_paragraphs(comments):
    """Of (number, comment): without its marks. Lines of the form "// x" after each other are one comment."""
    lines, last = [], None
    for number, comment in comments:
        if last is not None and (number != last + 1 or comment.startswith("/*")):
            lines.append((number, ""))
        for i, line in enumerate(comment.splitlines()):
            line = re.sub(r"^\s*(?:/\*+<?|\*/?|//[/!]?<?|#+|--)\s?|\s*\*/\s*$", "", line)
            example = line.startswith("  ") or "|" in line
            lines.append((number + i, "" if example else re.sub(r"`[^`]*`", "`x`", line)))
        last = number + comment.count("\n")
    return joined(lines)


def literals(text):
    """(number, text) of the string literals of a program in C, C++, Go, Rust, Julia or Python; those side by side are one text."""
    found, last = [], None
    pattern = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    for match in pattern.finditer(text):
        if match.group(0).startswith("/"):
            continue
        content = match.group(0).strip('"').replace("\\n", " ")
        if last is not None and found and not text[last:match.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + content)
        else:
            found.append((text.count("\n", 0, match.start()) + 1, content))
        last = match.end()
    return [(number, content) for number, content in found if " " in content]


PROGRAMS = {".c", ".cpp", ".h", ".hpp", ".inc", ".rs", ".go", ".jl", ".py"}
SLASHES = {".c", ".cpp", ".h", ".hpp", ".inc", ".rs", ".go", ".cu", ".cuh"}
PUBLIC_FOLDERS = {"core", "capi", "bindings", "plugins"}
GO_EXPORT = re.compile(r"((?:^[ \t]*//[^\n]*\n)+)(?=[ \t]*(?:func (?:\([^)]*\) )?[A-Z]|type [A-Z]|var [A-Z]|const [A-Z]|[A-Z]\w* |package ))",
                       re.MULTILINE)


def comments(path, text):
    """(number, comment) of a program."""
    if path.suffix not in SLASHES:
        return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("#")]
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return [(text.count("\n", 0, match.start()) + 1, match.group(0)) for match in pattern.finditer(text) if match.group(0)[0] == "/"]


def documentation(path, text):
    """Of the comments of a program those that its users read."""
    if path.name == "dataline.h" or "cpp/include" in path.as_posix():
        return comments(path, text)
    if path.suffix == ".rs":
        return [(number, comment) for number, comment in comments(path, text) if comment.startswith(("///", "//!"))]
    if path.suffix == ".go":
        return [(text.count("\n", 0, match.start()) + 1 + i, line.strip()) for match in GO_EXPORT.finditer(text)
                for i, line in enumerate(match.group(1).splitlines())]
    return []


def is_test(path):
    return any(part in ("tests", "test", "bench", "benches", "peers", "arrow-tests") for part in path.parts) or path.stem.endswith("_test")


def split(path, text):
    """(what users read, the rest), each as paragraphs (number, text)."""
    if path.suffix == ".json":
        return json_texts(text), []
    if path.suffix == ".md":
        if path.name == "CHANGELOG.md":
            text = re.split(r"^## \[?\d", text, flags=re.MULTILINE)[0]
        paragraphs = markdown_paragraphs(text)
        inner = path.parts[0] in ("core", "tests", "bench") or path.name == "CODE_OF_CONDUCT.md"
        return ([], paragraphs) if inner else (paragraphs, [])
    public = []
    if path.parts[0] in PUBLIC_FOLDERS and not is_test(path):
        public = comment_paragraphs(documentation(path, text)) + literals(text)
        seen = {number for number, _ in documentation(path, text)}
    else:
        seen = set()
    return public, comment_paragraphs([one for one in comments(path, text) if one[0] not in seen])


def json_texts(text):
    """(1, text) of every string in a JSON file."""
    def walk(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, dict)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from walk(item)
    return [(1, one) for one in walk(json.loads(text)) if " " in one]


def files(root):
    inside = tree.files(root, PROGRAMS | {".cu", ".cuh", ".md"}, tree.FOLDERS + ("docs",))
    texts = pathlib.Path(root, "docs/reference").glob("*.json")  # of the site's generated pages
    return sorted([*inside, *(path.relative_to(root) for path in [*pathlib.Path(root).glob("*.md"), *texts])])


def check(root, only=()):
    found, rest, lengths = [], {}, {"docs, README": [], "dataline.h": []}
    for path in files(root):
        if only and str(path) not in only:
            continue
        public, other = split(path, pathlib.Path(root, path).read_text(encoding="utf-8"))
        for number, paragraph in public:
            for _, phrase, instead in phrases(paragraph):
                found.append(f'{path}:{number}: "{phrase}": write {instead}')
        is_doc = path.parts[0] == "docs" or path.name == "README.md" and len(path.parts) == 1
        if is_doc or path.name == "dataline.h":
            lengths["docs, README" if is_doc else "dataline.h"] += [
                (count, f"{path}:{number}") for number, paragraph in public for count in sentence_lengths(paragraph)]
        folder = path.parts[0] if len(path.parts) > 1 else "."
        rest[folder] = rest.get(folder, 0) + sum(len(phrases(paragraph)) for _, paragraph in other)
    for text, counts in lengths.items():
        long = [(count, place) for count, place in counts if count > MAX_WORDS]
        if only or len(long) > MAX_LONG_SHARE * len(counts):
            found += [f"{place}: a sentence of {count} words" for count, place in long]
        if not only and len(long) > MAX_LONG_SHARE * len(counts):
            found.append(f"{text}: {len(long)} of {len(counts)} sentences have more than {MAX_WORDS} words, at most 3 % may")
    return found if only else found + check_rest(root, rest)


def check_rest(root, counts):
    limits = pathlib.Path(root, "tests/law/english_rest.txt")
    allowed = dict(line.split() for line in limits.read_text(encoding="utf-8").splitlines()) if limits.exists() else {}
    return [f"{folder}: {count} phrases in comments, {allowed.get(folder, 0)} before; see tests/law/check_english.py for what to write"
            for folder, count in counts.items() if count > int(allowed.get(folder, 0))]


SELF_TEST = [
    ("plain English", {"docs/pages/a.md": "There is no file. The loader retries the read.\n"}, 0),
    ("a phrase", {"README.md": "The job goes on.\n"}, 1),
    ("a phrase over a line's end", {"README.md": "The job goes\non.\n"}, 1),
    ("code is not prose", {"README.md": "Call `goes on`.\n```\nit goes on\n```\n"}, 0),
    ("a cell of a table", {"docs/a.md": "| a | b |\n|---|---|\n| x | it goes on |\n"}, 1),
    ("is no X", {"docs/a.md": "A part is no mix.\n"}, 1),
    ("is no longer", {"docs/a.md": "It is no longer there.\n"}, 0),
    ("an object in front", {"docs/a.md": "Of a piece only the head is read.\n"}, 1),
    ("of a, inside", {"docs/a.md": "The head of a piece is read.\n"}, 0),
    ("a message", {"core/base/a.cpp": 'f("the file " "goes on");\n'}, 1),
    ("a message over two literals", {"core/base/a.cpp": 'f("the file goes "\n  "on");\n'}, 1),
    ("a message of a test", {"tests/base/a.cpp": 'f("it goes on");\n'}, 0),
    ("a comment of dataline.h", {"capi/dataline.h": "/* The job goes on. */\nint f(void);\n"}, 1),
    ("a comment of Rust's users", {"bindings/rust/a.rs": "/// The job goes on.\npub fn f() {}\n"}, 1),
    ("a comment of Go's users", {"bindings/go/a.go": "// F goes on.\nfunc F() {}\n"}, 1),
    ("a docstring", {"bindings/python/src/a.py": 'def f():\n    """The job goes on."""\n'}, 1),
    ("the rest, more than before", {"core/base/a.cpp": "// It goes on.\n", "tests/law/english_rest.txt": "core 0\n"}, 1),
    ("the rest, as before", {"core/base/a.cpp": "// It goes on.\n", "tests/law/english_rest.txt": "core 1\n"}, 0),
    ("a text of a generated page", {"docs/reference/errors.json": '{"a": ["The job goes on."]}'}, 1),
    ("what was released", {"CHANGELOG.md": "# Changes\n## Unreleased\nNew.\n## 0.1\nIt goes on.\n"}, 0),
    ("long sentences", {"README.md": "word " * 31 + ".\n"}, 2),
    ("a sentence of 30 words", {"README.md": "word " * 30 + ".\n"}, 0),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(check, SELF_TEST)
    tree.report(check(sys.argv[1], sys.argv[2:]), "plain English")
