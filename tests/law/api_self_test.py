"""The self-test of check_api.py: a small header that is right, and one change of it for each fault.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import tempfile

import check_api

HEADER = """\
/* A small header.
 *
 * Conventions. They hold for every function.
 *
 * Status     Functions that can fail return a dl_status.
 */
#ifndef DATALINE_H
#define DATALINE_H
#include <stddef.h>
#include <stdint.h>
#define DL_API
#define DL_MUST_CHECK __attribute__((warn_unused_result))
/* ---- Version. Functions exist since 0.2.      ------------------------------ */
#define DL_VERSION_MAJOR 0
#define DL_VERSION_MINOR 2
#define DL_VERSION_PATCH 0
#define DL_ABI_VERSION 2

/* ---- Status and errors ------------------------------------------------------ */
typedef int32_t dl_status;
#define DL_OK 0
/* The call. */
#define DL_ERR_BAD (-1) /* a value */
#define DL_ERR_WORSE (-2)

/* What went wrong. */
typedef struct dl_error {
  uint32_t struct_size;
  dl_status code;
  char message[8];
} dl_error;
#ifdef __cplusplus
#define DL_ERROR_INIT { sizeof(dl_error), 0, "" }
#else
#define DL_ERROR_INIT { sizeof(dl_error), 0, { 0 } }
#endif

/* ---- Things ----------------------------------------------------------------- */
typedef struct dl_thing dl_thing; /* does something */
#define DL_FLAG_ONE 1u
#define DL_FLAG_TWO 2u /* the other */
#define DL_LENGTH 2

/* Pieces of a thing. Since 0.3 */
typedef struct dl_piece dl_piece;
struct dl_piece {
  uint32_t struct_size;
  int32_t count;
  void* context;
  int32_t (*look)(void* context, const dl_piece* pieces, size_t bytes);
  void (*destroy)(void* context);
  uint64_t more[DL_LENGTH]; /* Since 0.4 */
};
typedef void (*dl_anything)(void);
/* A cell. No struct_size: its distance is elsewhere. */
typedef struct dl_cell {
  dl_anything (*find)(const char* name);
  int64_t (*number)(int64_t bytes);
} dl_cell;
/* What has the name that the callback above would have. */
typedef struct dl_cell_number {
  uint32_t struct_size;
  uint32_t reserved;
} dl_cell_number;
/* Frozen. */
struct Elsewhere;
/* One of several: dl_thing_open and dl_thing_shut.
 * Errors: DL_ERR_BAD. Threading: one at a time. */
DL_API DL_MUST_CHECK dl_status dl_thing_open(const char* const* names, const dl_piece* pieces, dl_thing** out,
                                             dl_error* error);
DL_API void dl_thing_shut(dl_thing* thing, struct Elsewhere* other, void (*release)(void* context));
DL_API dl_status dl_error_put(dl_error* error, dl_status code); /* for callbacks: gives `code` back */
DL_API intptr_t dl_thing_number(void); /* any */
/* Piece `index`. */
static inline const dl_piece* dl_piece_at(const dl_piece* pieces, int32_t index) {
#ifdef __cplusplus
  return reinterpret_cast<const dl_piece*>(pieces);
#else
  if (index < 0) { return 0; }
  return (const dl_piece*)(const void*)((const char*)pieces + (size_t)index * pieces->struct_size);
#endif
}

/* ---- Unstable --------------------------------------------------------------- */
#ifndef DL_STABLE_ONLY
#define DL_UNSTABLE /* marks them */
DL_API DL_UNSTABLE int32_t dl_thing_try(dl_thing* thing); /* may go */
#endif
#endif /* DATALINE_H */
"""

# (name, what is replaced in the header, by what, words that the one finding must have; the line is looked up)
SHUT = "DL_API void dl_thing_shut("
HEADERS = [
    ("a struct without struct_size", "  uint32_t struct_size;\n  int32_t count;", "  uint32_t size;\n  int32_t count;",
     ":{struct dl_piece {}: struct dl_piece does not start with uint32_t struct_size"),
    ("a struct without a comment", "/* What went wrong. */\n", "", ":{typedef struct dl_error}: struct dl_error has no comment"),
    ("a handle without a comment", " /* does something */", "", ":{typedef struct dl_thing}: dl_thing has no comment"),
    ("a function without a comment", " /* any */", "", ":{dl_thing_number}: dl_thing_number has no comment"),
    ("a neighbour that the comment does not name", "dl_thing_open and dl_thing_shut", "dl_thing_open",
     ":{" + SHUT + "}: dl_thing_shut has no comment"),
    ("a bool member", "  int32_t count;", "  bool count;", ":{bool count}: type 'bool' is not for this header; booleans are int32_t"),
    ("an int", "intptr_t dl_thing_number", "int dl_thing_number", ":{int dl_thing_number}: type 'int' is not for this header"),
    ("an unknown type", SHUT + "dl_thing* thing", SHUT + "dl_thang* thing", ":{dl_thang}: dl_thing_shut: type 'dl_thang' is declared nowhere"),
    ("a handle by value", SHUT + "dl_thing* thing", SHUT + "dl_thing thing", ":{" + SHUT + "}: dl_thing_shut: a dl_thing can only be pointed to"),
    ("a double by value", "dl_thing_number(void)", "dl_thing_number(double x)", ":{dl_thing_number}: dl_thing_number: a double must be"),
    ("a length that is no constant", "more[DL_LENGTH]", "more[DL_WIDTH]", ":{more[}: a number, or a constant defined above"),
    ("a struct that does not say its size", "No struct_size: its", "Its", ":{typedef struct dl_cell {}: struct dl_cell does not start"),
    ("padding", "  int32_t count;\n", "", ":{void* context;}: dl_piece.context: 4 bytes of padding before it"),
    ("two members in one declaration", "  int32_t count;", "  int16_t count, other;", ":{count, other}: one member a declaration"),
    ("a failing function without an error", ",\n                                             dl_error* error);", ");",
     ":{dl_thing_open(}: dl_thing_open returns dl_status; its last parameter"),
    ("a status that may be dropped", "DL_API DL_MUST_CHECK dl_status", "DL_API dl_status", ":{dl_thing_open(}: dl_thing_open returns dl_status without"),
    ("an unstable function in the stable part", SHUT, "DL_API DL_UNSTABLE void dl_thing_shut(", ":{dl_thing_shut(}: dl_thing_shut is not in the part"),
    ("a stable function in the unstable part", "DL_API DL_UNSTABLE", "DL_API", ":{dl_thing_try}: dl_thing_try is in the part"),
    ("a function without DL_API", "DL_API intptr_t", "intptr_t", ":{intptr_t dl_thing_number}: no declaration starts with 'intptr_t'"),
    ("another prefix", "dl_thing_number", "thing_number", ":{thing_number}: thing_number: names start with dl_ or DL_"),
    ("a name declared twice", "dl_thing_number", "dl_thing_shut", ":{DL_API intptr_t}: dl_thing_shut is declared twice"),
    ("a comment that names what is not there", "/* any */", "/* see dl_thing_count */", ":{dl_thing_number}: a comment mentions dl_thing_count"),
    ("a comment that names no member", "/* any */", "/* see dl_error.text */", ":{dl_thing_number}: a comment mentions dl_error.text"),
    ("a convention that names what is not there", "return a dl_status.", "return DL_FINE.", ":5: a comment mentions DL_FINE"),
    ("a constant that is computed", "DL_FLAG_TWO 2u", "DL_FLAG_TWO (1 << 1)", ":{DL_FLAG_TWO}: the value of DL_FLAG_TWO must be a number"),
    ("an enum", "typedef int32_t dl_status;", "typedef enum dl_status dl_status;", ":{enum}: type 'enum' is not for this header"),
    ("no (void)", "dl_thing_number(void)", "dl_thing_number()", ":{dl_thing_number}: write (void)"),
    ("a semicolon forgotten", "number(void);", "number(void)", ":{static inline}: ';' was expected, got 'static'"),
    ("an #endif forgotten", "#endif /* DATALINE_H */\n", "", ": an #if has no #endif"),
    ("a // comment", " /* any */", " // any", ":{dl_thing_number}: a // comment"),
    ("a condition that is not known", "#ifdef __cplusplus\n#define", "#if __cplusplus > 201703L\n#define", ":{201703L}: expected a condition of"),
]


# (what it is, a comment, its paragraphs)
COMMENTS = [
    ("two paragraphs", "/* One\n * line.\n *\n * Two. */", ["One line.", "Two."]),
    ("a table below its title", "/* A row. Names:\n *   next, between  calls\n *                  of it\n *   `wait`         a wait: long */",
     ["A row. Names:", "- next, between: calls of it", "- `wait`: a wait: long"]),
    ("a list with dashes", "/* Both:\n *   - one:\n *     a\n *   - two\n * Then\n * more. */", ["Both:", "- one: a", "- two", "Then more."]),
    ("a list at the margin", "/* - one\n *   a\n * - two */", ["- one a", "- two"]),
    ("a member's", "/* A list:\n   *   - one\n   *     a */", ["A list:", "- one a"]),
]

# (what it is, a paragraph, its Markdown, wrapped at 40)
PARAGRAPHS = [
    ("code that is not marked", "With a_b=2 and io=x, *out, dl_b, shape[0], DL_X_*, fork() and a->b.",
     "With `a_b=2` and `io=x`, `*out`, dl_b,\n`shape[0]`, `DL_X_*`, `fork()` and\n`a->b`."),
    ("no code", 'A "b_c" of i = 1, (d) and e.g. 2 * 3, [x) or f_.', 'A "b_c" of i = 1, (d) and e.g. 2 * 3,\n\\[x) or f_.'),
    ("code at the end of a line", "- The first of many words, then `a + b` and more", "- The first of many words, then `a + b`\n  and more"),
    ("code is not divided", "The first of so many more words, `ab + cd`", "The first of so many more words,\n`ab + cd`"),
    ("a sign at the start of a line", "The first of so many more words are 123 - 2", "The first of so many more words are 123\n\\- 2"),
]


def expected(words, text):
    """`words` with the line of the text in braces in place of it."""
    if "{" not in words:
        return words
    before, _, rest = words.partition("{")
    wanted, _, after = rest.rpartition("}:")
    line = next(number for number, one in enumerate(text.splitlines(), 1) if wanted.rstrip("}") in one)
    return f"{before}{line}:{after}"


def wrong_headers(describe):
    """Headers with one fault each, and the one finding that must come of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "dataline.h")
        for name, old, new, words in HEADERS:
            text = HEADER.replace(old, new, 1)
            path.write_text(text, encoding="utf-8")
            try:
                describe.text_of(path, os.devnull)
                got = ["nothing"]
            except describe.Wrong as error:
                got = str(error).split("\n")
            if text == HEADER or len(got) != 1 or expected(words, text) not in got[0]:
                yield f"{name}: expected '{expected(words, text)}', got {got}"


def right_header(describe, compiler):
    """What the small header is described as; faults of the description that the compiler must find."""
    api = describe.describe(HEADER)
    piece = next(one for one in api["structs"] if one["name"] == "dl_piece")
    cell = next(one for one in api["structs"] if one["name"] == "dl_cell")
    functions = {one["name"]: one for one in api["functions"]}
    groups = {one["name"]: one for one in api["constants"]}
    facts = [
        ("a struct's sizes and age", (piece["size"], piece["first_size"], piece["since"], piece["grows"]), (48, 32, "0.3", True)),
        ("a callback in place", [one["type"] for one in piece["members"]][3:5], ["dl_piece_look", "dl_release"]),
        ("callbacks with a name that is taken, and that return one", [one["type"] for one in cell["members"]],
         ["dl_cell_find", "dl_cell_number_function"]),
        ("a struct whose size is elsewhere", cell["grows"], True),
        ("a length by name", piece["members"][5]["type"], "uint64_t[2]"),
        ("a comment for two", functions["dl_thing_shut"]["doc"], functions["dl_thing_open"]["doc"]),
        ("errors and threading", (functions["dl_thing_open"]["errors"], functions["dl_thing_open"]["threading"]),
         (["DL_ERR_BAD."], "one at a time.")),
        ("types", [one["type"] for one in functions["dl_thing_open"]["parameters"]],
         ["const char* const*", "const dl_piece*", "dl_thing**", "dl_error*"]),
        ("inline", (functions["dl_piece_at"]["inline"], functions["dl_thing_try"]["unstable"]), (True, True)),
        ("flags", (groups["DL_FLAG"]["type"], [one["value"] for one in groups["DL_FLAG"]["values"]]), ("uint64_t", [1, 2])),
        ("handles", [one["name"] for one in api["handles"]], ["dl_thing"]),
        ("initialisers", api["initializers"], [{"name": "DL_ERROR_INIT", "value": "{ sizeof(dl_error), 0, { 0 } }"}]),
    ]
    yield from (f"{name}: expected {want}, got {got}" for name, got, want in facts if got != want)
    lies = [
        ("as it is", lambda api: None, False),
        ("an offset", lambda api: api["structs"][1]["members"][2].update(offset=12), True),
        ("a size", lambda api: api["structs"][0].update(size=12), True),
        ("a member's type", lambda api: api["structs"][1]["members"][1].update(type="uint32_t"), True),
        ("a value", lambda api: api["status_codes"][1].update(value=-9), True),
        ("a parameter's type", lambda api: functions["dl_thing_open"]["parameters"][1].update(type="dl_piece*"), True),
        ("a parameter of the inline function", lambda api: functions["dl_piece_at"]["parameters"][1].update(type="int64_t"), True),
        ("a callback's parameter", lambda api: api["callbacks"][1]["parameters"].pop(), True),
        ("what it returns", lambda api: functions["dl_thing_number"].update(returns="int32_t"), True),
    ]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "dataline.h").write_text(HEADER, encoding="utf-8")
        for name, lie, found in lies:
            whole = json.dumps(api)
            lie(api)
            if bool(check_api.refused(api, folder, compiler)) != found:
                yield f"the compiler on {name}: expected {'an error' if found else 'none'}"
            kept = json.loads(whole)
            api.clear()
            api.update(kept)
            functions = {one["name"]: one for one in api["functions"]}


def stale_files(generate, root):
    """A tree with one file changed at a time: check_api names that file."""
    api = json.loads(pathlib.Path(root, "capi/api.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**dict.fromkeys((*check_api.SOURCES, "capi/api.json")), **generate.files(api)}.items():
            target = pathlib.Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                shutil.copy(pathlib.Path(root, path), target)
            else:
                target.write_text(text, encoding="utf-8")
        for path in ["capi/api.json", *generate.files(api)]:
            target = pathlib.Path(folder, path)
            kept = target.read_text(encoding="utf-8")
            target.write_text(kept.replace("dl_loader_next", "dl_loader_mext"), encoding="utf-8")
            found = check_api.stale(folder)
            if len(found) != (1 if "dl_loader_next" in kept else 0) or any(path not in one for one in found):
                yield f"{path} changed: got {found}"
            target.write_text(kept + "\n", encoding="utf-8")
            found = check_api.stale(folder)
            if len(found) != 1 or path not in found[0] or "update.sh" not in found[0]:
                yield f"a line more in {path}: got {found}"
            target.write_text(kept, encoding="utf-8")
        rows = pathlib.Path(folder, "core/loader/option_rows.inc")
        kept = rows.read_text(encoding="utf-8")
        rows.write_text(kept + 'OPTION(kNew, "new", kScopeLoader, or_auto(integer<>("1", 1, kMax)), "", "New.")\n', encoding="utf-8")
        found = " ".join(check_api.stale(folder))
        if "capi/api.json:" not in found or "_option_types.py:" not in found or "new: Union[None, int, Literal" not in found:
            yield f"a new option: got {found}"
        rows.write_text(kept, encoding="utf-8")


def dead_links(pages, reference):
    """Links of the reference pages that lead nowhere."""
    places = {name: {reference.anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
              for name, text in pages.items()}
    links = [(name, found) for name, text in pages.items() for found in re.finditer(r"\]\((\w[\w-]*\.md)(?:#([^)]*))?\)", text)]
    if len(links) < 200:
        yield f"{len(links)} links in the reference"
    for name, found in links:
        if found[1] not in pages or (found[2] and found[2] not in places[found[1]]):
            yield f"{name}: the link {found[0][1:]} leads nowhere"


def wrong_texts(comments, words):
    """Comments that become other paragraphs than these, and paragraphs that become other Markdown."""
    for name, comment, want in COMMENTS:
        if comments.of_comment(comment) != want:
            yield f"{name}: expected {want}, got {comments.of_comment(comment)}"
    parts = comments.split(["A. Errors: DL_A.", "- B: b", "", "Errors:", "- C: c", "Threading: any. Errors: D."])
    want = (["A."], ["DL_A.", "- B: b", "- C: c", "D."], "any.")
    if parts != want:
        yield f"errors and threading: expected {want}, got {parts}"
    for name, paragraph, want in PARAGRAPHS:
        got = "\n".join(words.wrapped([paragraph], "", 40))
        if got != want:
            yield f"{name}: expected {want!r}, got {got!r}"


def broken_pages(pages):
    """Rows with more or fewer cells than their table, code spans that do not end in their line, empty paragraphs, and lists within prose."""
    for path, text in pages.items():
        cells = 0
        for number, line in enumerate(re.sub(r"```(?:c|{toctree})\n.*?```", lambda code: "\n" * code[0].count("\n"), text, flags=re.DOTALL).splitlines(), 1):
            here = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            if here and cells and here != cells:
                yield f"{path}:{number}: a row of {here - 1} cells in a table of {cells - 1}"
            cells = here
            if line.count("`") % 2:
                yield f"{path}:{number}: a code span is open"
            if re.search(r"\S: - \S|^\\", line):
                yield f"{path}:{number}: a list within prose"
        if re.search(r"\n{3}(?!\Z)", text):
            yield f"{path}: an empty paragraph"


def unknown_names(root, nulls, python):
    """Names in the tables of the makers that the header does not have."""
    api = json.loads(check_api.text_in(pathlib.Path(root, "capi/api.json")))
    known = {one["name"] for kind in ("functions", "structs", "handles", "status_codes") for one in api[kind]}
    tables = (nulls.OPTIONAL_IN, nulls.ABOUT_LIBRARY, python.HANDLES, python.BY_HAND, python.IDIOMATIC, python.CLASSES, python.DICTS, python.EXCEPTIONS)
    yield from (f"a maker lists {name}, which does not exist" for table in tables for name in table if name not in known)


def run(root, compiler):
    import comments
    import describe
    import generate
    import nulls
    import python
    import languages
    import reference
    import words

    pages = languages.pages(json.loads(check_api.text_in(pathlib.Path(root, "capi/api.json"))))
    wrong = [*wrong_headers(describe), *right_header(describe, compiler), *stale_files(generate, root),
             *dead_links(pages, reference), *wrong_texts(comments, words), *broken_pages(pages),
             *unknown_names(root, nulls, python)]
    for line in wrong:
        print(line)
    print(f"{len(HEADERS)} headers with a fault, {len(wrong)} wrong")
    return 1 if wrong else 0
