//! Errors: code, message, cause, sample, column.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{Array, Code, Dataset, Error, Loader, OptionType, Options};
use std::error::Error as _;

#[test]
fn a_missing_file_is_named_with_what_the_system_said() {
    let error = Dataset::open("npy:/nowhere/a.npy", &Options::new()).unwrap_err();
    assert!(matches!(&error, Error::Data(failure) if failure.code == Code::NotFound), "{error:?}");
    assert!(error.to_string().contains("/nowhere/a.npy"), "{error}");
    let cause = error.source().expect("a cause").downcast_ref::<std::io::Error>().expect("of the system");
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(error.code().to_string(), "DL_ERR_NOT_FOUND");
}

#[test]
fn each_band_of_codes_is_a_variant() {
    let uri = Dataset::open("nosuch:file", &Options::new()).unwrap_err();
    assert!(matches!(uri, Error::Call(_)) && uri.code() == Code::BadUri, "{uri:?}");
    assert!(uri.column().is_some());

    let budget = loader_of(&numbers(1000), &[("memory_budget", "1"), ("batch_size", "1000")]).unwrap_err();
    assert!(matches!(budget, Error::Machine(_)) && budget.code() == Code::OverBudget, "{budget:?}");

    let state = loader_of(&numbers(4), &[]).unwrap().load_state("no state").unwrap_err();
    assert!(matches!(state, Error::State(_)) && state.code() == Code::BadState, "{state:?}");

    let corrupt = common::file("corrupt.npy");
    std::fs::write(&corrupt, b"\x93NUMPY\x01\x00\x10\x00not a header     ").unwrap();
    let corrupt = Dataset::open(&format!("npy:{}", corrupt.display()), &Options::new()).unwrap_err();
    assert!(matches!(corrupt, Error::Data(_)), "{corrupt:?}");
}

#[test]
fn a_bad_transform_points_at_its_column() {
    let error = loader_of(&numbers(4), &[("transform", "cast(f32), nosuch")]).unwrap_err();
    assert_eq!((error.code(), error.column()), (Code::BadTransform, Some(12)), "{error:?}");
}

#[test]
fn the_first_wrong_option_is_told_when_options_are_used() {
    let options = Options::new().set("seed", -1).set("batch_size", "many");
    let error = Loader::new(&numbers(4), &options).unwrap_err();
    assert_eq!(error.code(), Code::BadOption);
    assert!(error.message().contains("seed"), "{error}");
    assert_eq!(options.check().unwrap_err().message(), error.message());
    let error = Options::new().set("seed", u64::MAX).check().unwrap_err();
    assert!(error.message().contains("18446744073709551615"), "{error}");
}

#[test]
fn a_boolean_is_no_number_and_no_text() {
    for option in dataline::options_table() {
        let takes_booleans = option.value_type == OptionType::Bool || option.key == "shuffle";
        for value in [false, true] {
            let set = Options::new().set(option.key, value).check();
            assert_eq!(set.is_ok(), takes_booleans, "{}: {set:?}", option.key);
            if let Err(error) = set {
                assert_eq!(error.code(), Code::BadOption, "{error}");
                assert!(
                    error.message().contains(option.key) && error.message().contains("expected"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn text_with_a_nul_byte_is_refused_here() {
    let error = Dataset::open("npy:a\0b", &Options::new()).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("NUL"), "{error}");
}

#[test]
fn parts_that_do_not_fit_are_a_mismatch() {
    let (four, five) = (numbers(4), numbers(5));
    let error = Dataset::zip(&[("a", &four), ("b", &five)]).unwrap_err();
    assert_eq!(error.code(), Code::Mismatch);
    assert!(error.message().contains('4') && error.message().contains('5'), "{error}");
    assert_eq!(four.subset(vec![0, 4]).unwrap_err().code(), Code::OutOfRange);
    assert!(Dataset::concat(&[]).is_err());
}

#[test]
fn too_many_held_batches_name_the_option() {
    let options = [("max_leases", "2"), ("lease_overflow", "error"), ("batch_size", "1")];
    let loader = loader_of(&numbers(10), &options).unwrap();
    let mut epoch = loader.epoch();
    let held: Vec<_> = epoch.by_ref().take(2).map(Result::unwrap).collect();
    let error = epoch.next().unwrap().unwrap_err();
    assert_eq!(error.code(), Code::LeasesHeld);
    assert!(error.message().contains("max_leases"), "{error}");
    assert!(epoch.next().is_none(), "an error ends the loop");
    drop(held);
    assert!(loader.next(None).is_ok(), "and the loader stays usable");
}

#[test]
fn a_rank_above_the_limit_is_refused() {
    let error =
        Dataset::from_arrays(&[Array::dense("x", &[1; 40], &[0u8]).unwrap()], &Options::new()).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("rank"), "{error}");
}

#[test]
fn every_code_of_the_header_has_a_name_here() {
    for constant in dataline_sys::check::CONSTANTS.iter().filter(|one| one.name.starts_with("DL_ERR_")) {
        let code = Code::from_number(constant.value as i32);
        assert!(!matches!(code, Code::Other(_)), "{} has no variant", constant.name);
        assert_eq!((code.number(), code.to_string()), (constant.value as i32, constant.name.to_owned()));
    }
}

#[test]
fn an_error_made_here_is_of_the_band_of_its_code() {
    let error = Error::new(Code::Mismatch, "field 'x': rank is 2, expected 1");
    assert!(matches!(&error, Error::Data(failure) if failure.code == Code::Mismatch));
    assert_eq!(error.to_string(), "field 'x': rank is 2, expected 1");
    assert!(error.source().is_none() && error.sample_index().is_none() && error.column().is_none());
    assert!(matches!(Error::new(Code::Cancelled, ""), Error::Cancelled));
}
