//! An epoch as an asynchronous stream.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{
    Batch, Code, Dataset, EpochStream, Error, Field, Loader, Options, Record, Result, Source, SourceError,
};
use futures_core::stream::{FusedStream, Stream};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread, and counts.
struct Unpark {
    thread: Thread,
    wakes: AtomicUsize,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, SeqCst);
        self.thread.unpark();
    }
}

fn unpark() -> Arc<Unpark> {
    Arc::new(Unpark { thread: thread::current(), wakes: AtomicUsize::new(0) })
}

/// The smallest executor.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let waker = Waker::from(unpark());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

async fn epoch(loader: &Arc<Loader<'static>>) -> Vec<i64> {
    let mut found = Vec::new();
    let mut batches = EpochStream::new(loader);
    while let Some(batch) = batches.next().await {
        found.extend_from_slice(batch.unwrap().view::<i64>("x").unwrap());
    }
    assert!(batches.is_terminated());
    assert!(batches.next().await.is_none());
    found
}

#[test]
fn a_stream_is_one_epoch_in_order_whoever_loads() {
    for workers in ["0", "1", "2"] {
        let options = [("batch_size", "7"), ("num_workers", workers), ("shuffle", "full"), ("epochs", "2")];
        let loader = Arc::new(loader_of(&numbers(100), &options).unwrap());
        let twin = loader_of(&numbers(100), &options).unwrap();
        for _ in 0..2 {
            let expected: Vec<i64> = common::epoch_of(&twin).concat();
            assert_eq!(block_on(epoch(&loader)), expected);
        }
        assert_eq!(block_on(epoch(&loader)), []); // after the last
    }
}

/// Gives a sample a message.
struct Gated(Mutex<mpsc::Receiver<()>>);

impl Source for Gated {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", dataline::DType::I64, &[])]
    }

    fn len(&self) -> usize {
        4
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> std::result::Result<(), SourceError> {
        let _ = self.0.lock().unwrap().recv(); // of a sender that is gone: at once
        record.put(0, &[index as i64])?;
        Ok(())
    }
}

fn gated(workers: &str) -> (mpsc::Sender<()>, Arc<Loader<'static>>) {
    let (open, gate) = mpsc::channel();
    let dataset = Dataset::from_source(Gated(Mutex::new(gate)), &Options::new()).unwrap();
    (open, Arc::new(loader_of(&dataset, &[("num_workers", workers), ("batch_size", "1")]).unwrap()))
}

fn poll(stream: &mut EpochStream, waker: &Arc<Unpark>) -> Poll<Option<Result<Batch>>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(&Waker::from(Arc::clone(waker))))
}

fn value(item: Poll<Option<Result<Batch>>>) -> i64 {
    match item {
        Poll::Ready(Some(batch)) => batch.unwrap().view::<i64>("x").unwrap()[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_poll_never_waits_and_the_last_waker_is_woken() {
    for workers in ["0", "1"] {
        let (open, loader) = gated(workers);
        let mut stream = EpochStream::new(&loader);
        let (first, last) = (unpark(), unpark());
        assert!(poll(&mut stream, &first).is_pending());
        assert!(poll(&mut stream, &last).is_pending()); // as of another task
        open.send(()).unwrap();
        while last.wakes.load(SeqCst) == 0 {
            thread::park();
        }
        assert_eq!(first.wakes.load(SeqCst), 0);
        assert_eq!(value(poll(&mut stream, &last)), 0);
        drop(open);
        assert_eq!(block_on(async { stream.next().await.unwrap().unwrap().view::<i64>("x").unwrap()[0] }), 1);
    }
}

#[test]
fn a_stream_that_is_dropped_while_it_waits_ends_the_wait_and_loses_nothing() {
    let (open, loader) = gated("1");
    let mut stream = EpochStream::new(&loader);
    assert!(poll(&mut stream, &unpark()).is_pending());
    drop(stream);
    assert_eq!(loader.position().unwrap().step, 0);
    drop(open);
    loader.seek(0, 0).unwrap();
    assert_eq!(block_on(epoch(&loader)), [0, 1, 2, 3]);
}

#[test]
fn a_stream_can_be_dropped_at_any_moment_of_a_wait() {
    let loader =
        Arc::new(loader_of(&numbers(4), &[("max_leases", "1"), ("lease_overflow", "wait")]).unwrap());
    let _held = loader.epoch().next().unwrap().unwrap(); // so that no batch can be had
    for _ in 0..300 {
        let mut stream = EpochStream::new(&loader);
        assert!(poll(&mut stream, &unpark()).is_pending());
        drop(stream); // its thread has not begun to wait, or waits
    }
}

/// A task that its executor drops, and with it the stream, when it is to run it again.
struct DropsTheTask {
    stream: Mutex<Option<EpochStream>>,
    done: Mutex<mpsc::Sender<()>>,
}

impl Wake for DropsTheTask {
    fn wake(self: Arc<Self>) {
        drop(self.stream.lock().unwrap().take());
        self.done.lock().unwrap().send(()).unwrap();
    }
}

#[test]
fn a_stream_can_be_dropped_by_its_own_waker() {
    let (open, loader) = gated("1");
    let (done, dropped) = mpsc::channel();
    let task = Arc::new(DropsTheTask { stream: Mutex::default(), done: Mutex::new(done) });
    let mut stream = EpochStream::new(&loader);
    let waker = Waker::from(Arc::clone(&task));
    assert!(Pin::new(&mut stream).poll_next(&mut Context::from_waker(&waker)).is_pending());
    *task.stream.lock().unwrap() = Some(stream);
    drop((task, waker)); // the stream's thread has the last of them
    drop(open);
    dropped.recv().unwrap();
}

#[test]
fn an_interrupt_of_the_loader_is_an_item_and_the_stream_continues() {
    let (open, loader) = gated("1");
    let mut stream = EpochStream::new(&loader);
    assert!(poll(&mut stream, &unpark()).is_pending());
    loader.cancel_handle().interrupt();
    let item = block_on(stream.next()).unwrap();
    assert!(matches!(item, Err(Error::Interrupted)), "{item:?}");
    drop(open);
    assert_eq!(value(Poll::Ready(block_on(stream.next()))), 0);
}

#[test]
fn a_stream_that_could_not_begin_has_one_item() {
    for workers in ["0", "1"] {
        let loader = Arc::new(loader_of(&numbers(4), &[("num_workers", workers)]).unwrap());
        loader.cancel_handle().cancel();
        let mut stream = EpochStream::new(&loader);
        let item = poll(&mut stream, &unpark());
        assert!(matches!(item, Poll::Ready(Some(Err(Error::Cancelled)))), "{item:?}");
        assert!(stream.is_terminated());
    }
}

#[test]
fn another_loop_ends_it_also_while_it_waits() {
    let (open, loader) = gated("1");
    let mut stream = EpochStream::new(&loader);
    assert!(poll(&mut stream, &unpark()).is_pending());
    loader.seek(0, 2).unwrap();
    drop(open);
    let error = block_on(stream.next()).unwrap().unwrap_err();
    assert_eq!(error.code(), Code::WrongState);
    assert!(block_on(stream.next()).is_none());
    assert_eq!(block_on(epoch(&loader)), [2, 3]);
}

#[test]
fn it_goes_from_thread_to_thread() {
    fn sendable<T: Send + 'static>(value: T) -> T {
        value
    }
    let loader = Arc::new(loader_of(&numbers(10), &[("batch_size", "3")]).unwrap());
    let mut stream = sendable(EpochStream::new(&loader));
    drop(loader); // it keeps its own
    let rows = thread::spawn(move || {
        block_on(async move {
            let mut rows = 0;
            while let Some(batch) = stream.next().await {
                rows += batch.unwrap().len();
            }
            rows
        })
    });
    assert_eq!(rows.join().unwrap(), 10);
}
