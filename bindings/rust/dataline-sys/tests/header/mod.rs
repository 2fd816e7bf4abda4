//! What is in `dataline.h`, and C made from Rust's words for it.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::path::PathBuf;
use std::process::Command;

const FOLDER: &str =
    env!("DATALINE_HEADER_DIR", "the build script found no dataline.h: set DATALINE_INCLUDE_DIR");

/// The header without its comments.
pub fn text() -> String {
    let path = PathBuf::from(FOLDER).join("dataline.h");
    let whole = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = whole.split("/*");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, rest)| rest))
}

/// Names of macros that stand for a number.
pub fn constants_of(text: &str) -> Vec<String> {
    let number = |value: &str| {
        let bare = value.trim().trim_start_matches(['(', '-'].as_slice());
        bare.starts_with(|first: char| first.is_ascii_digit())
    };
    let defines = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    defines
        .filter(|(name, value)| name.starts_with("DL_") && number(value))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Structs with a body, and the names of their members.
pub fn structs_of(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for part in text.split("typedef struct ").skip(1) {
        let (name, rest) = part.split_at(part.find([' ', ';'].as_slice()).unwrap_or(part.len()));
        if !rest.trim_start().starts_with('{') {
            continue;
        }
        let body = &rest[rest.find('{').unwrap() + 1..rest.find('}').unwrap()];
        let members = body.split(';').map(str::trim).filter(|member| !member.is_empty()).map(member_name);
        found.push((name.to_owned(), members.collect()));
    }
    found
}

fn member_name(declaration: &str) -> String {
    let name = match declaration.split_once("(*") {
        Some((_, function)) => function.split(')').next(),
        None => declaration.split('[').next().and_then(|bare| bare.rsplit([' ', '*'].as_slice()).next()),
    };
    name.unwrap_or("").to_owned()
}

pub fn functions_of(text: &str) -> Vec<String> {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let declared = one_line.split("DL_API ").skip(1).filter_map(|part| {
        let at = part.find('(')?;
        let name = part[..at].rsplit([' ', '*'].as_slice()).next()?;
        name.starts_with("dl_").then(|| name.to_owned())
    });
    declared.collect()
}

/// Rust's words for a type in C's.
pub fn in_c(rust: &str) -> String {
    let bare: String = rust.split_whitespace().collect();
    if let Some(target) = bare.strip_prefix("*const") {
        return format!("{} const*", in_c(target));
    }
    if let Some(target) = bare.strip_prefix("*mut") {
        return format!("{}*", in_c(target));
    }
    if let Some((item, length)) =
        bare.strip_prefix('[').and_then(|array| array.trim_end_matches(']').split_once(';'))
    {
        return format!("{}[{length}]", in_c(item));
    }
    let known = [
        ("i32", "int32_t"),
        ("u32", "uint32_t"),
        ("i64", "int64_t"),
        ("u64", "uint64_t"),
        ("usize", "size_t"),
        ("isize", "intptr_t"),
        ("f64", "double"),
        ("c_char", "char"),
        ("c_void", "void"),
        ("DLManagedTensor", "struct DLManagedTensor"),
        ("DLManagedTensorVersioned", "struct DLManagedTensorVersioned"),
    ];
    known.iter().find(|(here, _)| *here == bare).map_or(bare.clone(), |(_, there)| (*there).to_owned())
}

/// The types of functions, which C cannot name in place.
const FUNCTION_TYPES: &str = "\
typedef void (*dl_release)(void*);
typedef void* (*dl_allocate)(void*, size_t, size_t, int32_t);
typedef void (*dl_release_memory)(void*, void*, size_t, size_t, int32_t);
typedef void (*dl_write)(void*, int32_t, const char*, size_t);
typedef int32_t (*dl_read)(void*, const int64_t*, int64_t, dl_reader_cell*, char*, size_t);
";

/// What the program prints, or what the compiler says. It is linked with nothing: no function of the library is called.
pub fn compile_and_run(source: &str, name: &str) -> Result<String, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}.c"));
    let program = folder.join(name);
    let head = "#include <dataline.h>\n#include <stdio.h>\n";
    std::fs::write(&file, format!("{head}{FUNCTION_TYPES}{source}")).map_err(|error| error.to_string())?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    // Optimised, so that the functions in the arms never taken need not be linked.
    command
        .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", FOLDER, "-o"])
        .arg(&program)
        .arg(&file);
    let compiled = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let output = Command::new(&program).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", program.display(), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
