//! C made from Rust's words, and compiled with `dataline.h`.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline_sys::check::CALLBACKS_IN_C;
use std::path::PathBuf;
use std::process::Command;

const FOLDER: &str =
    env!("DATALINE_HEADER_DIR", "the build script found no dataline.h: set DATALINE_INCLUDE_DIR");

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
        ("i8", "int8_t"),
        ("u8", "uint8_t"),
        ("i16", "int16_t"),
        ("u16", "uint16_t"),
        ("i32", "int32_t"),
        ("u32", "uint32_t"),
        ("i64", "int64_t"),
        ("u64", "uint64_t"),
        ("usize", "size_t"),
        ("isize", "intptr_t"),
        ("f32", "float"),
        ("f64", "double"),
        ("c_char", "char"),
        ("c_void", "void"),
        ("DLManagedTensor", "struct DLManagedTensor"),
        ("DLManagedTensorVersioned", "struct DLManagedTensorVersioned"),
        ("ArrowArray", "struct ArrowArray"),
        ("ArrowArrayStream", "struct ArrowArrayStream"),
        ("ArrowSchema", "struct ArrowSchema"),
    ];
    known.iter().find(|(here, _)| *here == bare).map_or(bare.clone(), |(_, there)| (*there).to_owned())
}

/// What the program prints, or what the compiler says. It is linked with nothing: no function of the library is called.
pub fn compile_and_run(source: &str, name: &str) -> Result<String, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}.c"));
    let program = folder.join(name);
    let head = "#include <dataline.h>\n#include <stdio.h>\n";
    std::fs::write(&file, format!("{head}{CALLBACKS_IN_C}{source}")).map_err(|error| error.to_string())?;
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
