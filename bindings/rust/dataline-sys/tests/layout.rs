//! The declarations against the header: C is made from what Rust declares, compiled with all warnings as errors, and run;
//! what it prints has to equal what Rust knows. That nothing is missing follows from how the declarations are made: from
//! capi/api.json, which holds all of the header (`law_api`).
//!
//! SPDX-License-Identifier: Apache-2.0
mod header;

use dataline_sys::check::{layouts, Layout, CONSTANTS, FUNCTIONS};
use header::{compile_and_run, in_c};
use std::collections::BTreeMap;

/// What C prints: one `name value` a line.
fn printed(source: &str, name: &str) -> BTreeMap<String, i64> {
    let output = compile_and_run(source, name).expect("the C compiler accepts it");
    let pair = |line: &str| line.split_once(' ').map(|(key, value)| (key.to_owned(), value.parse().unwrap()));
    output.lines().map(|line| pair(line).unwrap()).collect()
}

#[test]
fn every_constant_has_the_value_it_has_in_the_header() {
    let print = |name: &str| format!("  printf(\"{name} %lld\\n\", (long long){name});\n");
    let lines: String = CONSTANTS.iter().map(|one| print(one.name)).collect();
    let in_header = printed(&format!("int main(void) {{\n{lines}  return 0;\n}}\n"), "constants");
    let here: BTreeMap<String, i64> = CONSTANTS.iter().map(|one| (one.name.to_owned(), one.value)).collect();
    assert!(here.len() > 80, "{} constants", here.len());
    assert_eq!(in_header, here);
}

#[test]
fn every_struct_has_the_same_members_sizes_and_offsets() {
    let mut lines = String::new();
    let mut here = BTreeMap::new();
    for Layout { name, bytes, alignment, members } in layouts() {
        lines +=
            &format!("  printf(\"{name} %zu\\n{name}:align %zu\\n\", sizeof({name}), _Alignof({name}));\n");
        here.insert(name.to_owned(), bytes as i64);
        here.insert(format!("{name}:align"), alignment as i64);
        for member in members {
            let field = member.name.trim_start_matches("r#");
            lines += &format!("  printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));\n");
            lines += &format!("  printf(\"{name}.{field}:bytes %zu\\n\", sizeof((({name}*)0)->{field}));\n");
            here.insert(format!("{name}.{field}:bytes"), member.bytes as i64);
            here.insert(format!("{name}.{field}"), member.offset as i64);
        }
    }
    let in_header = printed(&format!("int main(void) {{\n{lines}  return 0;\n}}\n"), "structs");
    assert!(here.len() > 150, "{} sizes and offsets", here.len());
    assert_eq!(in_header, here);
}

#[test]
fn every_member_has_the_same_type() {
    let mut lines = String::new();
    for one in layouts() {
        for member in &one.members {
            let name = member.name.trim_start_matches("r#");
            let member_type = in_c(member.rust_type);
            match member_type.strip_suffix(']').and_then(|array| array.split_once('[')) {
                // Arrays of the same length, by the test above; the type of their items here.
                Some((item, _)) => {
                    lines += &format!("  {{ {item}* p = (({}*)0)->{name}; (void)p; }}\n", one.name)
                }
                None => {
                    lines += &format!("  {{ {member_type}* p = &(({}*)0)->{name}; (void)p; }}\n", one.name)
                }
            }
        }
    }
    compile_and_run(&format!("int main(void) {{\n{lines}  return 0;\n}}\n"), "members").unwrap();
}

#[test]
fn every_function_has_the_signature_it_has_in_the_header() {
    assert!(FUNCTIONS.len() > 70, "{} functions", FUNCTIONS.len());
    let mut lines = String::new();
    for one in FUNCTIONS {
        let arguments: Vec<String> = one.arguments.iter().map(|argument| in_c(argument)).collect();
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        let result = if one.result.is_empty() { "void".to_owned() } else { in_c(one.result) };
        // The arm that is never taken keeps the linker out of it.
        lines += &format!("  {{ {result} (*f)({arguments}) = 1 ? 0 : {}; (void)f; }}\n", one.name);
    }
    let source = format!("int main(void) {{\n{lines}  return 0;\n}}\n");
    compile_and_run(&source, "functions").unwrap();
}

#[test]
fn a_wrong_type_would_be_noticed() {
    let source = "int main(void) {\n  { int64_t* p = &((dl_error*)0)->code; (void)p; }\n  return 0;\n}\n";
    let refused = compile_and_run(source, "wrong_member").unwrap_err();
    assert!(refused.contains("incompatible"), "{refused}");
    let source =
        "int main(void) {\n  { int64_t (*f)(void) = 1 ? 0 : dl_abi_version; (void)f; }\n  return 0;\n}\n";
    let refused = compile_and_run(source, "wrong_function").unwrap_err();
    assert!(refused.contains("incompatible"), "{refused}");
}

#[test]
fn every_function_is_in_the_library() {
    for one in FUNCTIONS {
        assert_ne!((one.address)(), 0, "{}", one.name);
    }
}

#[test]
fn the_library_in_use_is_of_this_interface() {
    // SAFETY: no arguments.
    let (abi, number) = unsafe { (dataline_sys::dl_abi_version(), dataline_sys::dl_version_number()) };
    assert_eq!(abi, dataline_sys::DL_ABI_VERSION);
    assert_eq!(number / 100, dataline_sys::DL_VERSION_MAJOR * 100 + dataline_sys::DL_VERSION_MINOR);
}
