//! Waits that end before a batch is there.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{
    CancelToken, DType, Dataset, Error, Field, Loader, LogLevel, Next, Options, Record, Source, SourceError,
};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Entered,
    Dropped,
}

/// One record, which cannot be read while the test holds the lock. Reports calls of `read` and its own end.
struct Gated {
    gate: Arc<Mutex<()>>,
    events: Mutex<Sender<Event>>,
}

impl Source for Gated {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::I64, &[])]
    }

    fn len(&self) -> usize {
        1
    }

    fn read(&self, _: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        self.report(Event::Entered);
        drop(self.gate.lock());
        record.put(0, &[7i64])
    }
}

impl Gated {
    fn at(gate: &Arc<Mutex<()>>) -> (Gated, Receiver<Event>) {
        let (events, receiver) = mpsc::channel();
        (Gated { gate: gate.clone(), events: Mutex::new(events) }, receiver)
    }

    fn report(&self, event: Event) {
        let _ = self.events.lock().unwrap().send(event); // some tests do not listen
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        self.report(Event::Dropped);
    }
}

fn loader_with(source: Gated, options: &Options) -> Loader<'static> {
    Loader::new(&Dataset::from_source(source, options).unwrap(), options).unwrap()
}

fn gated(gate: &Arc<Mutex<()>>) -> Loader<'static> {
    loader_with(Gated::at(gate).0, &Options::new().set("num_workers", 1))
}

#[test]
fn a_time_out_loses_nothing() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let loader = gated(&gate);
    assert!(matches!(loader.next(Some(Duration::ZERO)), Ok(Next::TimedOut)));
    assert!(matches!(loader.next(Some(Duration::from_millis(1))), Ok(Next::TimedOut)));
    drop(closed);
    assert_eq!(loader.epoch().next().unwrap().unwrap().view::<i64>("x").unwrap(), [7]);
}

#[test]
fn an_interrupt_ends_the_next_call_or_the_wait_in_progress_and_loses_no_batch() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let loader = gated(&gate);
    let handle = loader.cancel_handle();
    handle.interrupt();
    assert!(matches!(loader.next(Some(Duration::ZERO)), Err(Error::Interrupted)));
    assert!(matches!(loader.next(Some(Duration::ZERO)), Ok(Next::TimedOut)), "one call only");
    std::thread::scope(|threads| {
        let waiter = threads.spawn(|| loader.next(None));
        handle.interrupt();
        assert!(matches!(waiter.join().unwrap(), Err(Error::Interrupted)));
    });
    drop(closed);
    assert!(matches!(loader.next(None), Ok(Next::Batch(_))));
}

#[test]
fn cancel_holds_until_a_seek_and_ends_a_loop() {
    let loader = loader_of(&numbers(10), &[("batch_size", "1")]).unwrap();
    let handle = loader.cancel_handle();
    let mut epoch = loader.epoch();
    epoch.next().unwrap().unwrap();
    handle.clone().cancel();
    assert!(matches!(epoch.next(), Some(Err(Error::Cancelled))));
    assert!(epoch.next().is_none());
    assert!(matches!(loader.next(None), Err(Error::Cancelled)));
    loader.seek(0, 1).unwrap();
    assert_eq!(loader.epoch().len(), 9);
}

#[test]
fn a_handle_that_outlives_its_loader_does_nothing() {
    let loader = loader_of(&numbers(10), &[]).unwrap();
    let handle = loader.cancel_handle();
    drop(loader);
    handle.cancel();
    handle.interrupt();
}

#[test]
fn a_token_ends_opening_and_waiting_for_good() {
    let token = CancelToken::new().unwrap();
    let options = Options::new().cancel_token(&token);
    let loader = Loader::new(&numbers(10), &options).unwrap();
    loader.next(None).unwrap();
    token.clone().cancel();
    assert!(matches!(loader.next(None), Err(Error::Cancelled)));
    loader.seek(0, 0).unwrap();
    assert!(matches!(loader.next(None), Err(Error::Cancelled)));
    let path = common::file("cancelled.raw");
    std::fs::write(&path, [0u8; 16]).unwrap();
    let opened = Dataset::open(&format!("raw:{}?dtype=u8&shape=4", path.display()), &options);
    assert!(matches!(opened, Err(Error::Cancelled)), "{opened:?}");
}

static REMARKS: Mutex<Vec<(LogLevel, String)>> = Mutex::new(Vec::new());

fn keep(level: LogLevel, text: &str) {
    REMARKS.lock().unwrap().push((level, text.to_owned()));
}

#[test]
fn a_source_that_does_not_return_is_left_behind_with_a_remark_and_dropped_when_it_returns() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let (source, events) = Gated::at(&gate);
    let loader = loader_with(source, &Options::new().set("num_workers", 1).log(keep));
    assert_eq!(events.recv(), Ok(Event::Entered));
    drop(loader); // waits a second for the source
    assert!(events.try_iter().all(|event| event == Event::Entered), "a thread is in it");
    let remarks = REMARKS.lock().unwrap().clone();
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert_eq!(remarks[0].0, LogLevel::Warning);
    drop(closed);
    assert!(events.iter().any(|event| event == Event::Dropped));
}
