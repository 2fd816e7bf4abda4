"""The simple calls by their names, for the drivers of tests/languages/loops in C, C++ and Rust. Other languages look them
up while they run.

  call    runs a method that returns nothing, with numbers
  get     returns a member of what a method returns, as text: a number, a text, 0 or 1

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import array
from methods import kind_of, members, methods
from rust_methods import field_name
from words import HEAD

FOLDER = "tests/languages/loops"
SHOWN = ("number", "flag", "time", "text", "maybe")


def of_loader(api, shape):
    return [one for one in methods(api) if one.handle == "dl_loader" and one.shape == shape]


def shown(record):
    """Members that every language prints alike."""
    return [one for one in members(record.struct) if kind_of(one) in SHOWN and one["type"] != "double"]


def top(title):
    return [f"// {title}", "//", f"// {HEAD}", "//", "// SPDX-License-Identifier: Apache-2.0"]


def c(api):
    lines = [
        *top("The simple calls of a loader by their names."),
        "// clang-format off",
        "#include <dataline.h>",
        "#include <inttypes.h>",
    ]
    lines += ["#include <stdio.h>", "#include <string.h>", ""]
    lines += [
        "// The status of a call. *found: whether there is one of that name.",
        "static dl_status simple_call(dl_loader* loader, const char* name, const int64_t* numbers, int* found) {",
    ]
    lines += ["  (void)loader, (void)name, (void)numbers;", "  *found = 1;"]
    for one in of_loader(api, "set"):
        given = "".join(f"({each['type']})numbers[{at}], " for at, each in enumerate(one.parameters))
        lines.append(f'  if (strcmp(name, "{one.name}") == 0) return {one.c_name}(loader, {given}NULL);')
    lines += ["  *found = 0;", "  return DL_OK;", "}", ""]
    lines += [
        "// Writes the member; 0: there is none of that name.",
        "static int simple_get(const dl_loader* loader, const char* name, char* text) {",
    ]
    for record in of_loader(api, "record"):
        out, struct = record.name, record.struct["name"]
        lines += [f"  {struct} {out} = {{0}};", f"  {out}.struct_size = sizeof {out};"]
        lines.append(f"  if ({record.c_name}(loader, &{out}, NULL) != DL_OK) return 0;")
        for one in shown(record):
            text, wide = one["type"] == "const char*" or array(one["type"]), one["type"] == "int64_t"
            form = '"%s"' if text else '"%" PRId64' if wide else '"%" PRId32'
            lines.append(
                f'  if (strcmp(name, "{out}.{one["name"]}") == 0) return sprintf(text, {form}, {out}.{one["name"]});'
            )
    return [*lines, "  return 0;", "}"]


def cpp(api):
    lines = [
        *top("The simple calls of a loader by their names."),
        "// clang-format off",
        "#include <dataline.hpp>",
        "#include <string>",
        "#include <vector>",
    ]
    lines += ["", "namespace {", "", "using Numbers = std::vector<int64_t>;", ""]
    lines.append(
        "dataline::Result<void> simple_call(dataline::Loader& loader, const std::string& name, const Numbers& numbers) {"
    )
    lines.append("  static_cast<void>(loader), static_cast<void>(numbers);")
    for one in of_loader(api, "set"):
        given = ", ".join(f"static_cast<{each['type']}>(numbers[{at}])" for at, each in enumerate(one.parameters))
        lines.append(
            f'  if (name == "{one.name}" && numbers.size() == {len(one.parameters)}) return loader.try_{one.name}({given});'
        )
    lines += ['  return dataline::Error(DL_ERR_INTERNAL, "no call " + name);', "}", ""]
    lines.append("std::string simple_get(const dataline::Loader& loader, const std::string& name) {")
    for record in of_loader(api, "record"):
        for one in shown(record):
            text = one["type"] == "const char*" or array(one["type"])
            value = f"loader.{record.name}().{one['name']}"
            made = value if text else f"std::to_string({value})"
            lines.append(f'  if (name == "{record.name}.{one["name"]}") return {made};')
    return [*lines, '  return "no member " + name;', "}", "", "}  // namespace"]


def rust(api):
    lines = [*(line.replace("//", "//!", 1) for line in top("The simple calls of a loader by their names."))]
    lines += [
        "use dataline::{Loader, Result};",
        "",
        "pub fn call(loader: &Loader<'_>, name: &str, numbers: &[i64]) -> Result<()> {",
    ]
    lines.append("    match (name, numbers) {")
    for one in of_loader(api, "set"):
        names = ", ".join(each["name"] for each in one.parameters)
        lines.append(f'        ("{one.name}", &[{names}]) => loader.{one.name}({names}),')
    lines += ['        _ => panic!("no call {name} {numbers:?}"),', "    }", "}", ""]
    lines += ["pub fn get(loader: &Loader<'_>, name: &str) -> Result<String> {", "    Ok(match name {"]
    for record in of_loader(api, "record"):
        for one in shown(record):
            value = f"loader.{record.name}()?.{field_name(one)}"
            forms = {
                "flag": f"i32::from({value}).to_string()",
                "text": value,
                "time": f"{value}.as_nanos().to_string()",
            }
            made = forms.get(kind_of(one)) or f"{value}.to_string()"
            lines.append(f'        "{record.name}.{one["name"]}" => {made},')
    return [*lines, '        _ => panic!("no member {name}"),', "    })", "}"]


def files(api):
    return {f"{FOLDER}/calls.h": c(api), f"{FOLDER}/calls.hpp": cpp(api), f"{FOLDER}/rust/calls.rs": rust(api)}
