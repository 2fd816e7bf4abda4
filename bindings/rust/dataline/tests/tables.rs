//! The library's tables reach Rust whole, and every option of them can be set and read.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{options_table, transforms_table, Code, DType, Dataset, OptionType, Options};

#[test]
fn every_option_of_the_library_is_set_by_its_key() {
    let table = options_table();
    assert!(table.len() >= 20, "{} options", table.len());
    for option in &table {
        assert!(!option.doc.is_empty() && !option.since.is_empty(), "{}", option.key);
        assert!(option.scope.dataset || option.scope.loader, "{}", option.key);
        assert!(!matches!(option.value_type, OptionType::Other(_)), "{}: a new type", option.key);
        assert_eq!(option.value_type == OptionType::Word, !option.choices.is_empty(), "{}", option.key);
        assert_eq!(Options::new().get(option.key).unwrap(), option.default_value, "{}", option.key);
        let value = match (option.value_type, option.choices.last(), option.range) {
            (OptionType::Indices | OptionType::Weights, ..) => continue,
            (_, Some(word), _) => (*word).to_owned(),
            (OptionType::Bool, ..) => "true".to_owned(),
            (_, _, Some((_, maximum))) => maximum.to_string(),
            _ => continue,
        };
        let options = Options::new().set(option.key, value.as_str());
        assert!(options.check().is_ok(), "{}={value}: {:?}", option.key, options.check());
    }
}

/// A new option of the library is there by its key with no edit here: nowhere in the code is there a key.
#[test]
fn no_key_is_typed_again_in_the_source() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = paths.filter(|path| path.is_file()).collect(); // without the folder of generated code
    assert!(files.len() > 20, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for option in options_table() {
            let key = format!("\"{}\"", option.key);
            assert!(!code.iter().any(|line| line.contains(&key)), "{}: {key}", path.display());
        }
    }
}

#[test]
fn values_of_each_rust_type_are_taken() {
    let options = Options::new().set("batch_size", 8usize).set("seed", 9u64).set("epochs", 3i32);
    let options =
        options.set("replacement", false).set("memory_budget", "1GiB").set("shuffle", String::from("full"));
    let expected =
        [("batch_size", "8"), ("seed", "9"), ("epochs", "3"), ("replacement", "false"), ("shuffle", "full")];
    for (key, value) in expected {
        assert_eq!(options.get(key).unwrap(), value, "{key}");
    }
    assert_eq!(options.get("nosuch").unwrap_err().code(), Code::UnknownOption);
    let shown = format!("{options:?}");
    assert!(shown.contains("\"seed\": \"9\"") && !shown.contains("prefetch_depth"), "{shown}");
}

#[test]
fn every_operator_has_a_doc_and_its_arguments() {
    let table = transforms_table(None);
    let normalize = table.iter().find(|operator| operator.name == "normalize").expect("normalize");
    assert!(!normalize.arguments.is_empty());
    let cast = table.iter().find(|operator| operator.name == "cast").expect("cast");
    assert_eq!(cast.arguments[0].default_value, None, "cast needs a dtype");
    assert!(table.iter().all(|operator| !operator.doc.is_empty()));
}

#[test]
fn every_dtype_of_the_library_is_known() {
    let known = dataline_sys::check::CONSTANTS.iter().filter(|one| one.name.starts_with("DL_DTYPE_"));
    assert_eq!(known.clone().count(), 15);
    for constant in known {
        let dtype = DType::from_number(constant.value as i32);
        assert!(!matches!(dtype, DType::Other(_)), "{} has no variant", constant.name);
        assert_eq!(dtype.number(), constant.value as i32);
        assert_eq!(dtype.to_string(), constant.name.trim_start_matches("DL_DTYPE_").to_lowercase());
        assert!(dtype.bytes() > 0);
    }
    assert_eq!(DType::from_number(99).bytes(), 0);
}

#[test]
fn the_library_says_what_it_is() {
    assert_eq!(dataline::abi_version(), dataline_sys::DL_ABI_VERSION);
    assert!(dataline::version().starts_with("0.2."), "{}", dataline::version());
    assert!(!dataline::build_info().is_empty());
}

#[test]
fn datasets_are_zipped_joined_and_described() {
    let (four, six) = (numbers(4), numbers(6));
    let joined = Dataset::concat(&[&four, &six]).unwrap();
    let zipped = Dataset::zip(&[("a", &joined), ("b", &numbers(10))]).unwrap();
    assert_eq!(
        (zipped.len(), zipped.is_empty(), zipped.format().as_str(), zipped.uri().as_str()),
        (Some(10), false, "zip", "")
    );
    let names: Vec<String> = zipped.fields().into_iter().map(|field| field.name).collect();
    assert_eq!(names, ["a", "b"]);
    let batch = loader_of(&zipped, &[]).unwrap().epoch().next().unwrap().unwrap();
    assert_eq!(batch.view::<i64>("a").unwrap(), [0, 1, 2, 3, 0, 1, 2, 3, 4, 5]);
    assert!(zipped.notes().iter().all(|note| !note.is_empty()));
    assert!(zipped.classes().is_empty());
    let folder = std::env::temp_dir().join(format!("dataline-classes-{}", std::process::id()));
    for name in ["owl", "ant"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("1.jpg"), "x").unwrap();
    }
    let pets = Dataset::open(&format!("folder:{}", folder.display()), &Options::new()).unwrap();
    assert_eq!(pets.classes(), ["ant", "owl"]);
    std::fs::remove_dir_all(folder).unwrap();
}
