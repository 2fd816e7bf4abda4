//! What is lent to the library is not copied, and given back once.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers, Drops, Told};
use dataline::{with_borrowed, Array, Batch, Code, Dataset, Loader, Options, Result};

fn describe(owner: &Told<Vec<i64>>) -> Result<Vec<Array<'_>>> {
    Ok(vec![Array::dense("x", &[owner.data.len()], &owner.data)?])
}

#[test]
fn a_lent_owner_is_dropped_once_when_all_that_came_from_it_is_gone() {
    let drops = Drops::default();
    let dataset = Dataset::lend_arrays(Told::new(vec![5, 6, 7], &drops), describe, &Options::new()).unwrap();
    let part = dataset.subset(vec![2, 0]).unwrap();
    let joined = Dataset::concat(&[&part, &part]).unwrap();
    let loader = Loader::new(&joined, &Options::new().set("epochs", 1)).unwrap();
    drop((dataset, part, joined));
    assert_eq!(drops.count(), 0, "the loader needs it");
    assert_eq!(epoch_of(&loader).concat(), [7, 5, 7, 5]);
    drop(loader);
    assert_eq!(drops.count(), 1);
}

#[test]
fn a_batch_does_not_keep_what_was_lent() {
    let drops = Drops::default();
    let dataset = Dataset::lend_arrays(Told::new(vec![5, 6, 7], &drops), describe, &Options::new()).unwrap();
    let batch = loader_of(&dataset, &[]).unwrap().epoch().next().unwrap().unwrap();
    drop(dataset);
    assert_eq!(drops.count(), 1);
    assert_eq!(batch.view::<i64>("x").unwrap(), [5, 6, 7]);
}

#[test]
fn a_call_that_fails_drops_the_owner_once() {
    let drops = Drops::default();
    fn twice(owner: &Told<Vec<i64>>) -> Result<Vec<Array<'_>>> {
        let mut arrays = describe(owner)?;
        arrays.extend(describe(owner)?);
        Ok(arrays)
    }
    let error = Dataset::lend_arrays(Told::new(vec![1], &drops), twice, &Options::new()).unwrap_err();
    assert!(error.message().contains('x'), "{error}");
    assert_eq!(drops.count(), 1);

    fn misshapen(owner: &Told<Vec<i64>>) -> Result<Vec<Array<'_>>> {
        Ok(vec![Array::dense("x", &[2], &owner.data)?])
    }
    let error = Dataset::lend_arrays(Told::new(vec![1], &drops), misshapen, &Options::new()).unwrap_err();
    assert_eq!((error.code(), drops.count()), (Code::InvalidArgument, 2));

    let error = numbers(3).subset(Told::new(vec![3i64], &drops)).unwrap_err();
    assert_eq!((error.code(), drops.count()), (Code::OutOfRange, 3));
}

#[test]
fn indices_and_weights_are_given_back_once() {
    let drops = Drops::default();
    let indices = Options::new().sample_indices(Told::new(vec![2i64, 1], &drops));
    let replaced = indices.sample_indices(Told::new(vec![0i64, 2], &drops));
    assert_eq!(drops.count(), 1, "the first array is not needed any more");
    let loader = Loader::new(&numbers(3), &replaced).unwrap();
    drop(replaced);
    assert_eq!(epoch_of(&loader).concat(), [0, 2]);
    assert_eq!(drops.count(), 1);
    drop(loader);
    assert_eq!(drops.count(), 2);

    let weights = Options::new().weights(Told::new(vec![0.0, 1.0, 0.0], &drops)).set("samples_per_epoch", 4);
    let loader = Loader::new(&numbers(3), &weights).unwrap();
    assert_eq!(epoch_of(&loader).concat(), [1, 1, 1, 1]);
    drop((loader, weights));
    assert_eq!(drops.count(), 3);
}

#[test]
fn a_clone_of_options_shares_what_was_lent_and_changes_alone() {
    let drops = Drops::default();
    let options = Options::new().sample_indices(Told::new(vec![2i64, 1], &drops)).set("batch_size", 1);
    let clone = options.clone().set("batch_size", 2);
    assert_eq!(
        (options.get("batch_size").unwrap(), clone.get("batch_size").unwrap()),
        ("1".into(), "2".into())
    );
    drop(options);
    assert_eq!(drops.count(), 0, "the clone needs it");
    let loader = Loader::new(&numbers(3), &clone).unwrap();
    assert_eq!(epoch_of(&loader), [[2, 1]]);
    drop((loader, clone));
    assert_eq!(drops.count(), 1);
}

#[test]
fn a_clone_of_options_has_their_error() {
    let failed = Options::new().set("nosuch", 1).clone();
    assert_eq!(failed.check().unwrap_err().code(), Code::UnknownOption);
    assert_eq!(failed.clone().set("seed", 1).check().unwrap_err().code(), Code::UnknownOption);
}

#[test]
fn options_that_failed_before_drop_what_they_would_have_lent() {
    let drops = Drops::default();
    let options = Options::new().set("nosuch", 1).sample_indices(Told::new(vec![0i64], &drops));
    assert_eq!(drops.count(), 1);
    assert_eq!(options.check().unwrap_err().code(), Code::UnknownOption);
}

#[test]
fn borrowed_arrays_are_read_in_place_and_free_again_after_it() {
    let mut values: Vec<i64> = (0..100).collect();
    let batches = with_borrowed(&[Array::dense("x", &[100], &values).unwrap()], &Options::new(), |dataset| {
        let loader = Loader::new(&dataset, &Options::new().set("batch_size", 50)).unwrap();
        let part = dataset.subset(vec![7]).unwrap();
        drop(dataset);
        let mut batches: Vec<Batch> = loader.epoch().map(Result::unwrap).collect();
        batches.extend(Loader::new(&part, &Options::new()).unwrap().epoch().map(Result::unwrap));
        batches
    })
    .unwrap();
    values.fill(-1);
    assert_eq!(batches[1].view::<i64>("x").unwrap(), (50..100).collect::<Vec<_>>());
    assert_eq!(batches[2].view::<i64>("x").unwrap(), [7]);
}

#[test]
fn a_panic_in_the_body_passes_after_the_arrays_came_back() {
    let values = vec![1i64, 2];
    let thrown = std::panic::catch_unwind(|| {
        with_borrowed(&[Array::dense("x", &[2], &values).unwrap()], &Options::new(), |dataset| {
            let _loader = Loader::new(&dataset, &Options::new()).unwrap();
            panic!("on purpose");
        })
    });
    assert_eq!(thrown.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn arrays_that_cannot_be_borrowed_are_an_error_and_the_body_does_not_run() {
    let short = [Array::dense("x", &[1], &[1u8]).unwrap(), Array::dense("y", &[2], &[1u8, 2]).unwrap()];
    let done: Result<()> = with_borrowed(&short, &Options::new(), |_| unreachable!("no dataset"));
    assert_eq!(done.unwrap_err().code(), Code::Mismatch);
}

#[test]
fn an_owner_whose_drop_panics_does_not_end_the_process() {
    struct Fragile(Vec<i64>);
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("in drop, on purpose");
        }
    }
    fn describe(owner: &Fragile) -> Result<Vec<Array<'_>>> {
        Ok(vec![Array::dense("x", &[owner.0.len()], &owner.0)?])
    }
    let dataset = Dataset::lend_arrays(Fragile(vec![1]), describe, &Options::new()).unwrap();
    drop(dataset);
}
