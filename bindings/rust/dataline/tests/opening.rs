//! Opening without waiting. The first line of the log holds an opening of many files until the test lets it go on.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Code, Error, Opening, Options};
use std::future::Future;
use std::path::PathBuf;
use std::sync::{mpsc, Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const FILES: i64 = 300; // the log gets a line after 256

struct Shards(PathBuf);

impl Shards {
    fn new(name: &str) -> Shards {
        let folder = std::env::temp_dir().join(format!("dataline-opening-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..FILES {
            std::fs::write(folder.join(format!("{file}.bin")), "xyz").unwrap();
        }
        Shards(folder)
    }

    fn uri(&self) -> String {
        format!("raw:{}?dtype=u8&shape=1", self.0.display())
    }

    /// An opening that stands still in the middle, until the sender is used or dropped.
    fn held(&self) -> (Opening, mpsc::Sender<()>) {
        let (is_held, wait_held) = mpsc::channel();
        let (go, wait_go) = mpsc::channel::<()>();
        let (is_held, wait_go) = (Mutex::new(is_held), Mutex::new(wait_go));
        let options = Options::new().log(move |_, _| {
            let _ = is_held.lock().unwrap().send(());
            let _ = wait_go.lock().unwrap().recv();
        });
        let opening = Opening::start(&self.uri(), &options).unwrap();
        wait_held.recv().unwrap();
        (opening, go)
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F, mut pending: impl FnMut()) -> F::Output {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => pending(),
        }
        thread::park();
    }
}

#[test]
fn the_dataset_comes_once_and_progress_is_seen_before() {
    let shards = Shards::new("once");
    let (opening, go) = shards.held();
    assert!(opening.wait_timeout(Duration::ZERO).unwrap().is_none());
    let half = opening.progress();
    assert!(!half.done && half.files < FILES && half.total_files == FILES, "{half:?}");
    drop(go);
    let dataset = opening.wait_timeout(Duration::MAX).unwrap().unwrap();
    assert_eq!(dataset.len(), Some(3 * FILES as usize));
    let whole = opening.progress();
    assert!(whole.done && whole.files == FILES, "{whole:?}");
    assert!(opening.wait_handle().unwrap() >= 0);
    assert_eq!(opening.wait().unwrap_err().code(), Code::WrongState);
}

#[test]
fn a_cancel_or_a_drop_ends_it() {
    let shards = Shards::new("cancel");
    let (opening, go) = shards.held();
    opening.cancel();
    drop(go);
    assert!(matches!(opening.wait(), Err(Error::Cancelled)));
    let (opening, go) = shards.held();
    let dropper = thread::spawn(move || drop(opening));
    drop(go);
    dropper.join().unwrap();
}

#[test]
fn what_is_wrong_is_an_error_of_the_wait() {
    let opening = Opening::start("npy:/nowhere/a.npy", &Options::new()).unwrap();
    assert_eq!(opening.wait().unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_future_is_woken_when_it_is_open_and_ends_it_when_dropped() {
    let shards = Shards::new("future");
    let (opening, go) = shards.held();
    let mut go = Some(go);
    let dataset = block_on(opening.opened(), || drop(go.take())).unwrap();
    assert_eq!(dataset.len(), Some(3 * FILES as usize));
    assert!(go.is_none(), "it was pending before");

    let (opening, go) = shards.held();
    let mut future = Box::pin(opening.opened());
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(future);
    drop(go);

    let missing = Opening::start("npy:/nowhere/a.npy", &Options::new()).unwrap();
    assert_eq!(block_on(missing.opened(), || ()).unwrap_err().code(), Code::NotFound);
}
