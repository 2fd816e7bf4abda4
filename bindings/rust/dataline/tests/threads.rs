//! Workers on threads that the program watches or provides.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Array, Code, Dataset, Extensions, Loader, Options, Threads, WorkerBody};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// Of 64 samples, in batches of 4.
fn loader(extensions: &Extensions, workers: usize) -> dataline::Result<Loader<'static>> {
    let array = Array::dense("x", &[64], &[7u8; 64])?;
    let options = Options::new().extensions(extensions).set("num_workers", workers).set("batch_size", 4);
    Loader::new(&Dataset::from_arrays(&[array], &options)?, &options)
}

#[derive(Default)]
struct Seen {
    started: Mutex<Vec<(usize, String)>>,
    ended: AtomicUsize,
    ran: AtomicUsize,
}

struct Hooks(Arc<Seen>);

impl Threads for Hooks {
    fn start(&self, worker: usize, name: &str) {
        self.0.started.lock().unwrap().push((worker, name.to_owned()));
        panic!("caught");
    }

    fn end(&self, _: usize) {
        self.0.ended.fetch_add(1, SeqCst);
        panic!("caught");
    }
}

#[test]
fn each_worker_says_when_it_starts_and_ends() {
    let seen = Arc::new(Seen::default());
    let mut extensions = Extensions::new().unwrap();
    extensions.set_threads(Hooks(Arc::clone(&seen))).unwrap();
    let loader = loader(&extensions, 3).unwrap();
    assert_eq!(loader.epoch().map(Result::unwrap).count(), 16);
    drop((loader, extensions));
    let mut started = seen.started.lock().unwrap().clone();
    started.sort();
    assert_eq!(started.iter().map(|(worker, _)| *worker).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(started.iter().all(|(_, name)| !name.is_empty()), "{started:?}");
    assert_eq!(seen.ended.load(SeqCst), 3);
    assert_eq!(Arc::strong_count(&seen), 1, "the threads were dropped");
}

/// What becomes of a worker's body.
#[derive(Clone, Copy)]
enum Fate {
    Spawned,
    DroppedLater,
    DroppedAtOnce,
    SpawnedAndDenied,
    Refused,
}

struct Lent(Arc<Seen>, Fate);

impl Threads for Lent {
    const RUNS: bool = true;

    fn run(&self, _: usize, _: &str, body: WorkerBody) -> io::Result<()> {
        self.0.ran.fetch_add(1, SeqCst);
        let refused = || io::Error::from_raw_os_error(12);
        match self.1 {
            Fate::Spawned => drop(thread::spawn(|| body.run())),
            Fate::DroppedLater => drop(thread::spawn(|| drop(body))),
            Fate::DroppedAtOnce => drop(body),
            Fate::SpawnedAndDenied => {
                drop(thread::spawn(|| body.run()));
                return Err(refused());
            }
            Fate::Refused => return Err(refused()),
        }
        Ok(())
    }
}

fn lent(fate: Fate) -> (dataline::Result<usize>, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let mut extensions = Extensions::new().unwrap();
    extensions.set_threads(Lent(Arc::clone(&seen), fate)).unwrap();
    let made = loader(&extensions, 2);
    (made.map(|loader| loader.epoch().map(Result::unwrap).count()), seen)
}

#[test]
fn workers_run_on_threads_of_the_program() {
    let (batches, seen) = lent(Fate::Spawned);
    assert_eq!((batches.unwrap(), seen.ran.load(SeqCst)), (16, 2));
}

#[test]
fn a_worker_that_cannot_be_run_is_an_error_of_the_loader() {
    for (fate, number) in [(Fate::Refused, 12), (Fate::DroppedAtOnce, 11)] {
        let (made, _) = lent(fate);
        let error = made.unwrap_err();
        assert_eq!(error.code(), Code::Thread);
        assert_eq!(error.failure().unwrap().os_error.as_ref().unwrap().raw_os_error(), Some(number));
    }
}

#[test]
fn a_worker_whose_run_contradicts_itself_harms_nobody() {
    for _ in 0..50 {
        // Dropped before `run` returns, or after: refused, or run by another thread.
        if let Ok(batches) = lent(Fate::DroppedLater).0 {
            assert_eq!(batches, 16);
        }
        // Begun before `run` fails, or not: it runs, or never will.
        if let Ok(batches) = lent(Fate::SpawnedAndDenied).0 {
            assert_eq!(batches, 16);
        }
    }
}
