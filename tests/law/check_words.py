"""Words and sizes: what the house style bans, found by reading the source.

  check_words.py ROOT             checks the tree and prints the sizes of its files
  check_words.py --self-test      proves that it can fail

Comments and string literals are told apart from code, so that a message or a sentence may say "exit".

SPDX-License-Identifier: Apache-2.0
"""

import re
import statistics
import sys

import tree

MAX_LINES = 500       # split above; above 300 the top of the file says why
MAX_TEST_LINES = 400

TOKENS = re.compile(
    r'(?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<char>\'(?:\\.|[^\'\\\n])+\')'
    r"|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<number>\d[\w']*)", re.DOTALL)

# (pattern, folders it holds in, file suffixes or None, what is wrong)
IN_CODE = [
    (r"\bstd::endl\b", None, None, "std::endl: write '\\n'"),
    (r"(?<!asm )(?<!asm__ )\bvolatile\b", None, None, "volatile is not for threads"),
    (r"^\s*using\s+namespace\b", None, {".h", ".hpp"}, "using namespace in a header"),
    (r"\b(?:v?f?printf|puts|putchar|perror)\s*\(", {"core", "capi"}, None, "printing"),
    (r"\bstd::(?:cout|cerr|clog)\b", {"core", "capi"}, None, "printing"),
    (r"\b(?:_?exit|quick_exit|abort)\s*\(", {"core", "capi"}, None, "ending the host's process"),
    (r"\b(?:secure_)?getenv\s*\(", {"core", "capi"}, None, "reading the environment"),
    (r"\b(?:strto(?:d|f|ld|l|ll|ul|ull)|ato(?:i|l|ll|f)|std::sto(?:i|l|ul|ll|ull|f|d|ld))\s*\(", {"core", "capi"}, None,
     "locale-dependent or unchecked parsing: core/base/text.h has parse_*"),
    (r"\bstd::(?:\w+_distribution|mt19937\w*|random_device|default_random_engine)\b", {"core", "capi"}, None,
     "std:: randomness differs between platforms: core/base/random.h"),
    (r"\bs?rand(?:_r|om)?\s*\(", {"core", "capi"}, None, "randomness with hidden state"),
    (r"\bthread_local\b", {"core", "capi"}, None, "thread-local state"),
    (r"\b(?:std::this_thread::sleep_\w+|usleep|nanosleep|clock_nanosleep)\s*\(", {"core", "capi"}, None,
     "a sleep"),
]
IN_COMMENT = [
    (r"\b(?:TODO|FIXME|XXX|HACK)\b", "an unfinished mark"),
    (r"[-=*#~]{8,}", "a banner"),
    (r"^[/*\s]*(?:Default |Copy |Move )?(?:[Cc]onstructor|[Dd]estructor)s?\.?[\s*/]*$", "a comment that repeats the code"),
    (r"^// ?(?:return\b.*;|(?:[\w:<>*&]+\s+)?[\w.>\-\[\]]+\s*(?:=[^=].*|\([^)]*\));|(?:if|for|while)\s*\(.*\)\s*\{?|\}|#include.*)\s*$",
     "commented-out code"),
]
TEST_SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|u?sleep|nanosleep)\s*\(")


def parts(text):
    """Code with comments and literals blanked out, and the comments as (offset, text)."""
    comments = []

    def blank(match):
        if match.group("number"):
            return match.group(0)
        if match.group("line") or match.group("block"):
            comments.append((match.start(), match.group(0)))
        return re.sub(r"[^\n]", " ", match.group(0))

    return TOKENS.sub(blank, text), comments


def check_file(root, path):
    text = "\n".join(tree.lines(root, path)) + "\n"
    code, comments = parts(text)
    found = []

    def line_of(offset):
        return text.count("\n", 0, offset) + 1

    for pattern, folders, suffixes, what in IN_CODE:
        if (folders is None or path.parts[0] in folders) and (suffixes is None or path.suffix in suffixes):
            for match in re.finditer(pattern, code, re.MULTILINE):
                found.append(f"{path}:{line_of(match.end())}: {what}")
    for offset, comment in comments:
        example = comment.startswith("/*") and path.name == "dataline.h"  # shows a program and titles its parts
        for pattern, what in IN_COMMENT:
            if not (example and what == "a banner") and re.search(pattern, comment):
                found.append(f"{path}:{line_of(offset)}: {what}: {comment.splitlines()[0].strip()[:60]}")
    if path.parts[0] == "tests":
        explained = {line_of(offset) for offset, _ in comments}
        for match in TEST_SLEEP.finditer(code):
            number = line_of(match.start())
            if number not in explained and number - 1 not in explained:
                found.append(f"{path}:{number}: a sleep without a reason beside it")
    if "SPDX-License-Identifier: Apache-2.0" not in text[:6000]:
        found.append(f"{path}:1: no SPDX-License-Identifier")
    count = text.count("\n")
    limit = MAX_TEST_LINES if path.parts[0] == "tests" else MAX_LINES
    if path.name != "dataline.h" and count > limit:
        found.append(f"{path}:{limit}: {count} lines, the limit is {limit}")
    return found


def check(root):
    return [finding for path in tree.files(root) for finding in check_file(root, path)]


def print_sizes(root):
    sizes = {path: len(tree.lines(root, path)) for path in tree.files(root)}
    if not sizes:
        return
    print(f"{len(sizes)} files, median {statistics.median(sizes.values()):.0f} lines; over 300:")
    for path, count in sorted(sizes.items(), key=lambda item: -item[1]):
        if count > 300:
            print(f"  {count} {path}")


S = "// SPDX-License-Identifier: Apache-2.0\n"
SELF_TEST = [
    ("clean", {"core/base/a.cpp": S + 'int f() { return g("exit(1); printf(x)"); }  // may exit, never prints\n'}, 0),
    ("printf in core", {"core/base/a.cpp": S + "void f() { printf(1); }\n"}, 1),
    ("printf in an example", {"examples/c/a.c": S + "void f() { printf(1); }\n"}, 0),
    ("cout in capi", {"capi/a.cpp": S + "void f() { std::cout << 1; }\n"}, 1),
    ("exit in core", {"core/base/a.cpp": S + "void f() { exit(1); }\n"}, 1),
    ("getenv in core", {"core/base/a.cpp": S + "auto f = std::getenv(x);\n"}, 1),
    ("strtod in core", {"core/base/a.cpp": S + "auto f = strtod(x, 0);\n"}, 1),
    ("a std distribution", {"core/order/a.cpp": S + "std::uniform_int_distribution<int> d;\n"}, 1),
    ("thread_local", {"core/base/a.cpp": S + "thread_local int x;\n"}, 1),
    ("volatile", {"bench/a.cpp": S + "volatile int x;\n"}, 1),
    ("asm volatile", {"core/base/a.cpp": S + 'void f() { asm volatile("pause"); }\n'}, 0),
    ("endl", {"bindings/cli/a.cpp": S + "x << std::endl;\n"}, 1),
    ("using namespace in a header", {"core/base/a.h": S + "using namespace std;\n"}, 1),
    ("using namespace in a source", {"tests/base/a.cpp": S + "using namespace std;\n"}, 0),
    ("an unfinished mark", {"core/base/a.cpp": S + "// TODO: later\n"}, 1),
    ("a banner", {"core/base/a.cpp": S + "// ===================\n"}, 1),
    ("commented-out code", {"core/base/a.cpp": S + "// x = f(y);\n// return 0;\n"}, 2),
    ("a program shown, indented", {"core/base/a.cpp": S + "//   x = f(y);\n"}, 0),
    ("a sentence with a semicolon", {"core/base/a.cpp": S + "// It waits; then f(y) goes on;\n"}, 0),
    ("a comment that repeats", {"core/base/a.cpp": S + "// Constructor.\n"}, 1),
    ("a sleep in a test", {"tests/base/a.cpp": S + "\nint x;\nvoid f() { usleep(1); }\n"}, 1),
    ("a sleep with its reason", {"tests/base/a.cpp": S + "\nusleep(1);  // the kernel's clock ticks\n"}, 0),
    ("no licence", {"core/base/a.cpp": "int x();\n"}, 1),
    ("too long", {"core/base/a.cpp": S + "\n" * 500}, 1),
    ("a test too long", {"tests/base/a.cpp": S + "\n" * 400}, 1),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(check, SELF_TEST)
    print_sizes(sys.argv[1])
    tree.report(check(sys.argv[1]), "words and sizes")
