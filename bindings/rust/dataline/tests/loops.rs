//! Several loops over one loader: one after the other, inside each other, in several threads.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers};
use dataline::{Batch, Code, Dataset, Epoch, Error, Loader, Next, Options, Position, Record, Result, Source};
use std::sync::{mpsc, Mutex};
use std::thread;
use std::time::Duration;

const ENDED: &str =
    "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)";

fn assert_ended(error: &Error) {
    assert_eq!((error.code(), error.message()), (Code::WrongState, ENDED));
}

fn values(batch: &Batch) -> Vec<i64> {
    batch.view::<i64>("x").unwrap().to_vec()
}

#[test]
fn a_loop_inside_a_loop_ends_the_outer_one() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let mut inner = 0;
    // Where it would never end it does after 100 turns.
    let outer: Vec<Result<Batch>> = (&loader)
        .into_iter()
        .inspect(|batch| {
            if batch.is_ok() {
                inner += epoch_of(&loader).concat().len();
            }
        })
        .take(100)
        .collect();
    assert_eq!(inner, 8, "the inner loop has an epoch to itself");
    assert_eq!(outer.len(), 2, "a batch, an error, and nothing after it");
    assert_ended(outer[1].as_ref().unwrap_err());
}

#[test]
fn a_seek_or_a_loaded_state_ends_the_loop_and_one_that_fails_does_not() {
    let loader = loader_of(&numbers(8), &[("batch_size", "2")]).unwrap();
    let state = loader.save_state().unwrap();
    for by_seek in [true, false] {
        let mut epoch = loader.epoch();
        epoch.next().unwrap().unwrap();
        assert_eq!(loader.seek(0, 99).unwrap_err().code(), Code::OutOfRange);
        assert_eq!(loader.load_state("nonsense").unwrap_err().code(), Code::BadState);
        epoch.next().unwrap().unwrap();
        if by_seek { loader.seek(0, 3) } else { loader.load_state(&state) }.unwrap();
        assert_ended(&epoch.next().unwrap().unwrap_err());
        assert!(epoch.next().is_none());
        assert_eq!(epoch_of(&loader).len(), if by_seek { 1 } else { 4 }, "the next loop goes on there");
    }
}

#[test]
fn an_epoch_that_another_loop_follows_says_so_and_one_that_is_over_does_not() {
    let loader = loader_of(&numbers(4), &[("batch_size", "2"), ("epochs", "2")]).unwrap();
    let (mut older, mut newer) = (loader.epoch(), loader.epoch());
    assert_ended(&older.next().unwrap().unwrap_err());
    assert_eq!(newer.by_ref().map(Result::unwrap).count(), 2);
    assert_eq!(epoch_of(&loader).len(), 2);
    assert!(newer.next().is_none());
    assert!(loader.epoch().next().is_none(), "after the last epoch");
}

#[test]
fn calls_of_next_in_the_body_take_part_in_the_epoch() {
    for steps in [4, 5] {
        // The end is told to the loop, or to `next`.
        let loader = loader_of(&numbers(steps * 2), &[("batch_size", "2")]).unwrap();
        let mut seen = Vec::new();
        for batch in (&loader).into_iter().take(100) {
            seen.push(batch.unwrap().info().step as usize);
            if let Next::Batch(batch) = loader.next(None).unwrap() {
                seen.push(batch.info().step as usize);
            }
        }
        assert_eq!(seen, (0..steps).collect::<Vec<_>>());
        assert_eq!(loader.position().unwrap(), Position { epoch: 1, step: 0 });
    }
}

const SAMPLES: usize = 20_000;

/// What three threads get, each by `run`.
fn in_threads<T: Send>(run: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|threads| {
        let all: Vec<_> = (0..3).map(|_| threads.spawn(&run)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn sorted(mut samples: Vec<i64>) -> Vec<i64> {
    samples.sort_unstable();
    samples
}

#[test]
fn threads_that_share_an_epoch_get_each_batch_once_and_nothing_of_the_next() {
    for workers in ["0", "2"] {
        let options = [("batch_size", "16"), ("shuffle", "full"), ("num_workers", workers)];
        let loader = loader_of(&numbers(SAMPLES), &options).unwrap();
        let each = |epoch: &Epoch<'_>| epoch.flat_map(|batch| values(&batch.unwrap())).collect::<Vec<i64>>();
        for round in 0..3 {
            let epoch = loader.epoch();
            assert_eq!(epoch.len(), SAMPLES / 16);
            let all = in_threads(|| each(&epoch)).concat();
            assert_eq!(sorted(all), (0..SAMPLES as i64).collect::<Vec<_>>());
            assert_eq!(epoch.len(), 0);
            assert_eq!(loader.position().unwrap(), Position { epoch: round + 1, step: 0 });
        }
        let behind_a_lock = Mutex::new(loader.epoch());
        let all = in_threads(|| {
            let mut mine = Vec::new();
            while let Some(batch) = { behind_a_lock.lock().unwrap().next() } {
                mine.extend(values(&batch.unwrap()));
            }
            mine
        });
        assert_eq!(sorted(all.concat()).len(), SAMPLES);
    }
}

#[test]
fn of_loops_in_several_threads_each_has_its_epoch_whole_or_is_told() {
    for workers in ["0", "2"] {
        let options = [("batch_size", "64"), ("shuffle", "full"), ("num_workers", workers)];
        let loader = loader_of(&numbers(SAMPLES), &options).unwrap();
        for _ in 0..10 {
            let mut whole = 0;
            for taken in in_threads(|| {
                let mut samples = Vec::new();
                for batch in &loader {
                    samples.extend(values(&batch?));
                }
                Ok::<_, Error>(samples)
            }) {
                match taken {
                    Ok(samples) => {
                        whole += 1;
                        assert_eq!(sorted(samples), (0..SAMPLES as i64).collect::<Vec<_>>());
                    }
                    Err(error) => assert_ended(&error),
                }
            }
            assert!(whole > 0, "nothing ended the last one to begin");
        }
    }
}

/// Reads wait until the channel is closed.
struct Gated(Mutex<mpsc::Receiver<()>>);

impl Source for Gated {
    fn fields(&self) -> Vec<dataline::Field> {
        vec![dataline::Field::dense("x", dataline::DType::I64, &[])]
    }
    fn len(&self) -> usize {
        4
    }
    fn read(&self, index: usize, record: &mut Record<'_>) -> std::result::Result<(), dataline::SourceError> {
        let _ = self.0.lock().unwrap().recv();
        record.put(0, &[index as i64])
    }
}

#[test]
fn a_loop_that_waits_is_ended_by_a_seek_and_calls_of_next_wait_on() {
    let (gate, closed) = mpsc::channel();
    let dataset = Dataset::from_source(Gated(Mutex::new(closed)), &Options::new()).unwrap();
    let loader = Loader::new(&dataset, &Options::new().set("num_workers", 1).set("batch_size", 4)).unwrap();
    thread::scope(|threads| {
        let looping = threads.spawn(|| loader.epoch().next().unwrap().unwrap_err());
        let another = threads.spawn(|| loader.next(Some(Duration::from_secs(3600))));
        while !looping.is_finished() {
            loader.seek(0, 0).unwrap(); // one that comes before the loop has begun ends nothing
        }
        assert_ended(&looping.join().unwrap());
        drop(gate);
        assert!(matches!(another.join().unwrap(), Ok(Next::Batch(_))), "its wait was not to end");
    });
}
