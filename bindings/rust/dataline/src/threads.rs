//! The worker threads.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::{lend, no_panic};
use crate::{ffi, Result};
use dataline_sys as sys;
use std::fmt;
use std::io;
use std::os::raw::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Callbacks when a loader's workers start and end, or threads to run them. Called from any thread; must not
/// call Dataline; panics are caught.
///
/// ```
/// use dataline::{Array, Dataset, Extensions, Loader, Options, Threads, WorkerBody};
/// use std::io;
/// use std::thread;
///
/// /// Workers with a stack of 1 MiB.
/// struct Small;
///
/// impl Threads for Small {
///     const RUNS: bool = true;
///     fn run(&self, _worker: usize, name: &str, body: WorkerBody) -> io::Result<()> {
///         let builder = thread::Builder::new().name(name.to_owned()).stack_size(1 << 20);
///         builder.spawn(|| body.run()).map(drop)
///     }
/// }
///
/// # fn main() -> dataline::Result<()> {
/// let mut extensions = Extensions::new()?;
/// extensions.set_threads(Small)?;
/// let options = Options::new().extensions(&extensions).set("num_workers", 2);
/// let dataset = Dataset::from_arrays(&[Array::dense("x", &[3], &[1u8, 2, 3])?], &options)?;
/// assert_eq!(Loader::new(&dataset, &options)?.epoch().count(), 1);
/// # Ok(())
/// # }
/// ```
pub trait Threads: Send + Sync + 'static {
    /// Whether workers run on threads of [`run`](Threads::run); otherwise the library starts its own.
    const RUNS: bool = false;

    /// Called first on each worker: to name, pin or register the thread. Workers count from 0.
    fn start(&self, worker: usize, name: &str) {
        let _ = (worker, name);
    }

    /// Called last on each worker.
    fn end(&self, worker: usize) {
        let _ = worker;
    }

    /// Called when a loader is created, if [`RUNS`](Threads::RUNS). It must arrange for `body.run()` to be
    /// called soon, on another thread. `body.run()` returns when the loader is dropped.
    ///
    /// # Errors
    /// No thread is available: creating the loader fails with [`Code::Thread`](crate::Code::Thread).
    fn run(&self, worker: usize, name: &str, body: WorkerBody) -> io::Result<()> {
        let _ = (worker, name, body);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The work of one worker. If it is dropped without being run, it runs on a thread that the standard library
/// starts, because the loader depends on it.
pub struct WorkerBody {
    claim: Arc<Claim>,
}

/// Decides who may call main(argument): once, or never if `run` failed.
struct Claim {
    stage: Mutex<Stage>,
    main: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// `Threads::run` has not returned yet.
    Asked,
    /// `Threads::run` has returned, and the library depends on the body.
    Promised,
    /// The body is running or has run.
    Taken,
    /// `Threads::run` failed, or the body was dropped during it. The library has been notified that it will
    /// not run.
    Void,
}

// SAFETY: the library lets any thread call main(argument), once; the stage decides which.
unsafe impl Send for Claim {}
// SAFETY: as above.
unsafe impl Sync for Claim {}

impl Claim {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self) {
        // SAFETY: called by who took it, once.
        unsafe { (self.main)(self.argument) };
    }

    /// The result for the library when `Threads::run` has returned.
    fn settle(&self, returned: io::Result<()>) -> i32 {
        const TRY_AGAIN: i32 = 11; // EAGAIN: the error of a thread that cannot be started
        let mut stage = self.lock();
        match *stage {
            Stage::Taken => return 0, // it runs already, whatever was returned
            Stage::Asked if returned.is_ok() => {
                *stage = Stage::Promised;
                return 0;
            }
            _ => *stage = Stage::Void,
        }
        let number = returned.err().and_then(|error| error.raw_os_error());
        number.filter(|&number| number != 0).unwrap_or(TRY_AGAIN)
    }
}

impl WorkerBody {
    /// Works until the loader is dropped.
    pub fn run(self) {
        let mut stage = self.claim.lock();
        let mine = matches!(*stage, Stage::Asked | Stage::Promised);
        if mine {
            *stage = Stage::Taken;
        }
        drop(stage);
        if mine {
            self.claim.call();
        }
    }
}

impl Drop for WorkerBody {
    fn drop(&mut self) {
        let mut stage = self.claim.lock();
        match *stage {
            Stage::Asked => *stage = Stage::Void,
            Stage::Promised => {
                *stage = Stage::Taken;
                drop(stage);
                let claim = Arc::clone(&self.claim);
                if std::thread::Builder::new().spawn(move || claim.call()).is_err() {
                    self.claim.call(); // here: a busy thread is better than a loader that waits forever
                }
            }
            Stage::Taken | Stage::Void => {}
        }
    }
}

impl fmt::Debug for WorkerBody {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WorkerBody").finish_non_exhaustive()
    }
}

pub(crate) fn set<T: Threads>(extensions: *mut sys::dl_extensions, threads: T) -> Result<()> {
    lend(threads, |_, destroy, context| {
        let mut table = sys::dl_threads {
            struct_size: ffi::size::<sys::dl_threads>(),
            reserved: 0,
            context,
            start: Some(start::<T>),
            end: Some(end::<T>),
            run: None,
            destroy,
        };
        if T::RUNS {
            table.run = Some(run::<T>);
        }
        // SAFETY: the table is copied; its context lives until it is destroyed.
        ffi::hard(|error| unsafe { sys::dl_extensions_set_threads(extensions, &table, error) })
    })
}

fn number(worker: i32) -> usize {
    usize::try_from(worker).unwrap_or(0)
}

unsafe extern "C" fn start<T: Threads>(context: *mut c_void, worker: i32, name: *const c_char) {
    // SAFETY: the threads that were lent, and a text for this call.
    no_panic(|| unsafe { (*context.cast::<T>()).start(number(worker), &ffi::text_of(name)) });
}

unsafe extern "C" fn end<T: Threads>(context: *mut c_void, worker: i32) {
    // SAFETY: the threads that were lent.
    no_panic(|| unsafe { (*context.cast::<T>()).end(number(worker)) });
}

unsafe extern "C" fn run<T: Threads>(
    context: *mut c_void,
    worker: i32,
    name: *const c_char,
    main: sys::dl_release,
    argument: *mut c_void,
) -> i32 {
    const INVALID: i32 = 22; // EINVAL
    let main = match main {
        Some(main) => main,
        None => return INVALID,
    };
    let claim = Arc::new(Claim { stage: Mutex::new(Stage::Asked), main, argument });
    let mut returned = Err(io::ErrorKind::Other.into());
    no_panic(|| {
        let body = WorkerBody { claim: Arc::clone(&claim) };
        // SAFETY: the threads that were lent, and a text for this call.
        returned = unsafe { (*context.cast::<T>()).run(number(worker), &ffi::text_of(name), body) };
    });
    claim.settle(returned)
}
