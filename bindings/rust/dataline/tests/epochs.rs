//! Iteration: one `for` loop is one epoch.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers};
use dataline::{Batch, Code, Next, Position, Result};
use std::sync::Mutex;
use std::time::Duration;

fn at(epoch: u64, step: u64) -> Position {
    Position { epoch, step }
}

#[test]
fn a_loop_is_an_epoch_of_known_length() {
    let loader = loader_of(&numbers(10), &[("batch_size", "3"), ("epochs", "2")]).unwrap();
    let mut epoch = loader.epoch();
    assert_eq!((loader.steps(), epoch.len(), epoch.size_hint()), (Some(4), 4, (4, Some(4))));
    epoch.next().unwrap().unwrap();
    assert_eq!(epoch.len(), 3);
    assert_eq!(epoch.by_ref().count(), 3);
    assert_eq!(epoch.len(), 0);
    assert!(epoch.next().is_none() && epoch.next().is_none());
    assert_eq!(epoch_of(&loader), [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8], vec![9]]);
    assert_eq!(loader.epoch().count(), 0, "after the last epoch there is nothing");
    assert!(matches!(loader.next(None), Ok(Next::End)));
}

#[test]
fn every_sample_comes_once_an_epoch_and_each_epoch_has_its_own_order() {
    let options = [("batch_size", "7"), ("shuffle", "full"), ("seed", "3"), ("epochs", "2")];
    let loader = loader_of(&numbers(100), &options).unwrap();
    let (first, second) = (epoch_of(&loader).concat(), epoch_of(&loader).concat());
    assert_ne!(first, second);
    for mut order in [first, second] {
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}

#[test]
fn the_stream_does_not_depend_on_the_number_of_threads() {
    let stream = |workers: &str| {
        let options = [("shuffle", "full"), ("seed", "5"), ("batch_size", "9"), ("num_workers", workers)];
        epoch_of(&loader_of(&numbers(1000), &options).unwrap())
    };
    assert_eq!(stream("0"), stream("3"));
}

#[test]
fn after_a_break_the_next_loop_starts_the_next_epoch() {
    let loader = loader_of(&numbers(6), &[("batch_size", "2"), ("epochs", "2")]).unwrap();
    for batch in &loader {
        if batch.unwrap().info().step == 0 {
            break;
        }
    }
    assert_eq!(loader.position().unwrap(), at(0, 1));
    assert_eq!(loader.epoch().len(), 3);
    assert_eq!(loader.position().unwrap(), at(1, 0));
}

#[test]
fn after_a_seek_the_next_loop_goes_on_there() {
    let loader = loader_of(&numbers(6), &[("batch_size", "2"), ("epochs", "3")]).unwrap();
    loader.seek(1, 2).unwrap();
    let epoch = loader.epoch();
    assert_eq!(epoch.len(), 1);
    assert_eq!(epoch.map(|batch| batch.unwrap().info().step).collect::<Vec<_>>(), [2]);
    assert_eq!(loader.position().unwrap(), at(2, 0));
    let error = loader.seek(0, 4).unwrap_err();
    assert_eq!(error.code(), Code::OutOfRange);
    assert_eq!(loader.position().unwrap(), at(2, 0), "an error leaves the position");
}

/// For each item: the step of the batch, or the code of the error.
fn steps(items: impl Iterator<Item = Result<Batch>>) -> Vec<std::result::Result<u64, Code>> {
    let all = items.take(100); // so that endless iteration fails the test
    all.map(|item| item.map(|batch| batch.info().step).map_err(|error| error.code())).collect()
}

#[test]
fn iteration_stops_after_the_error_that_ends_its_epoch() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let outer = (&loader).into_iter().inspect(|batch| {
        if batch.is_ok() {
            assert_eq!(epoch_of(&loader).len(), 4, "the inner loop has an epoch to itself");
        }
    });
    assert_eq!(steps(outer), [Ok(0), Err(Code::WrongState)]);
}

#[test]
fn every_thread_that_shares_an_epoch_gets_the_error_that_ends_it() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let epoch = loader.epoch();
    loader.seek(0, 1).unwrap();
    let in_threads: Vec<_> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..3).map(|_| threads.spawn(|| steps(epoch.iter()))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(in_threads, vec![vec![Err(Code::WrongState)]; 3]);
    assert_eq!(steps(epoch), [Err(Code::WrongState)], "and its owner, which iterates later");
}

#[test]
fn the_error_that_ends_an_epoch_has_the_librarys_text() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let mut epoch = loader.epoch();
    loader.seek(0, 0).unwrap();
    let error = epoch.next().unwrap().unwrap_err();
    assert!(error.message().starts_with("this epoch was ended"), "{error}");
}

#[test]
fn iteration_continues_after_an_interrupt() {
    let loader = loader_of(&numbers(6), &[("batch_size", "2")]).unwrap();
    let interrupted = [Err(Code::Interrupted), Ok(0), Ok(1), Ok(2)];
    let epoch = loader.epoch();
    epoch.interrupt();
    assert_eq!(steps(epoch.iter()), interrupted);
    let epoch = loader.epoch();
    epoch.interrupt();
    assert_eq!(steps(epoch), interrupted);
}

#[test]
fn an_epoch_that_could_not_begin_has_one_item_for_each_iteration() {
    let loader = loader_of(&numbers(6), &[("batch_size", "2")]).unwrap();
    loader.cancel_handle().cancel();
    let epoch = loader.epoch();
    assert_eq!(epoch.len(), 0);
    epoch.interrupt(); // nothing to interrupt
    for _ in 0..2 {
        assert_eq!(steps(epoch.iter()), [Err(Code::Cancelled)]);
    }
    assert_eq!(steps(epoch), [Err(Code::Cancelled)]);
}

#[test]
fn the_length_of_a_shared_epoch_counts_what_all_threads_took_and_is_zero_at_its_end() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let mut epoch = loader.epoch();
    std::thread::scope(|threads| drop(threads.spawn(|| epoch.iter().next().unwrap().unwrap())));
    assert_eq!((epoch.len(), epoch.iter().size_hint()), (3, (0, Some(3))));
    assert!(matches!(loader.next(None), Ok(Next::Batch(_))));
    assert_eq!(epoch.by_ref().count(), 2);
    assert_eq!((epoch.len(), epoch.iter().size_hint()), (0, (0, Some(0))));
}

#[test]
fn next_tells_the_end_of_each_epoch_and_of_all() {
    let loader = loader_of(&numbers(2), &[("batch_size", "2"), ("epochs", "1")]).unwrap();
    let long = Some(Duration::from_secs(1000));
    assert!(matches!(loader.next(long), Ok(Next::Batch(_))));
    assert!(matches!(loader.next(Some(Duration::MAX)), Ok(Next::EndOfEpoch)));
    assert!(matches!(loader.next(Some(Duration::ZERO)), Ok(Next::End)));
}

#[test]
fn several_threads_get_different_batches() {
    let loader = loader_of(&numbers(1000), &[("batch_size", "1"), ("epochs", "1")]).unwrap();
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Next::Batch(batch) = loader.next(None).unwrap() {
                    seen.lock().unwrap().push(batch.sample_indices()[0]);
                }
            });
        }
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..1000).collect::<Vec<_>>());
}

#[test]
fn a_new_order_holds_from_the_next_epoch() {
    let options = dataline::Options::new().set("batch_size", 1).sample_indices(vec![3, 1]);
    let loader = dataline::Loader::new(&numbers(4), &options).unwrap();
    let mut epoch = loader.epoch();
    assert_eq!(epoch.next().unwrap().unwrap().sample_indices(), [3]);
    loader.set_indices(vec![0, 2]).unwrap();
    assert_eq!(epoch.next().unwrap().unwrap().sample_indices(), [1]);
    assert_eq!(epoch_of(&loader), [[0], [2]]);
    let error = loader.set_indices(vec![0, 2, 1]).unwrap_err();
    assert!(matches!(error, dataline::Error::Call(_) | dataline::Error::Data(_)), "{error:?}");
}

#[test]
fn the_wait_handle_is_readable_when_a_batch_is_ready() {
    use std::os::unix::io::AsRawFd;
    let loader = loader_of(&numbers(4), &[("num_workers", "0")]).unwrap();
    assert!(loader.wait_handle().unwrap().as_raw_fd() >= 0);
    assert_eq!(loader.fields()[0].shape, [-1]);
}
