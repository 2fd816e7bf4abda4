//! Arrays borrowed for a while.
//!
//! A loader's threads read the arrays, and safe code can leak a loader (`std::mem::forget`), so a lifetime
//! alone does not keep the arrays valid. As with `std::thread::scope`, the borrow therefore ends with a wait.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::no_panic;
use crate::{Array, Dataset, Options, Result};
use std::os::raw::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Notified when the library releases the arrays.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits when dropped, also during a panic.
struct WaitAtEnd(Arc<Gate>);

impl Drop for WaitAtEnd {
    fn drop(&mut self) {
        self.0.wait();
    }
}

unsafe extern "C" fn open_gate(context: *mut c_void) {
    // SAFETY: the reference that was borrowed with the arrays.
    no_panic(|| unsafe { Arc::from_raw(context.cast::<Gate>()) }.open());
}

/// Runs `body` with a dataset over borrowed `arrays`, without a copy. Returns when the dataset and everything
/// created from it are dropped. Loaders and composed datasets cannot leave `body`; batches may. If `body`
/// leaks one (`std::mem::forget`), this call waits forever.
///
/// ```
/// use dataline::{with_borrowed, Array, Loader, Options};
///
/// # fn main() -> dataline::Result<()> {
/// let mut rows = vec![1.0f32; 100 * 8];
/// let batches = with_borrowed(&[Array::dense("x", &[100, 8], &rows)?], &Options::new(), |dataset| {
///     let loader = Loader::new(&dataset, &Options::new().set("batch_size", 40))?;
///     loader.epoch().collect::<dataline::Result<Vec<_>>>()
/// })??;
/// rows[0] = 2.0; // nothing reads them now
/// assert_eq!(batches[0].view::<f32>("x")?[0], 1.0);
/// # Ok(())
/// # }
/// ```
///
/// A loader of this dataset cannot leave:
///
/// ```compile_fail
/// # use dataline::{with_borrowed, Array, Loader, Options};
/// let rows = vec![1.0f32; 100 * 8];
/// let array = Array::dense("x", &[100, 8], &rows).unwrap();
/// let loader = with_borrowed(&[array], &Options::new(), |dataset| Loader::new(&dataset, &Options::new()));
/// ```
///
/// # Errors
/// Those of [`Dataset::from_arrays`](crate::Dataset::from_arrays); `body` does not run then.
pub fn with_borrowed<R>(
    arrays: &[Array<'_>],
    options: &Options,
    body: impl for<'s> FnOnce(Dataset<'s>) -> R,
) -> Result<R> {
    let gate = Arc::new(Gate::default());
    let lent = Arc::into_raw(Arc::clone(&gate));
    // SAFETY: this function does not return before the arrays are released.
    let made = unsafe { Dataset::of_arrays(arrays, options, Some(open_gate), lent as *mut c_void) };
    match made {
        Ok(dataset) => {
            let _wait = WaitAtEnd(gate);
            Ok(body(dataset))
        }
        Err(error) => {
            // SAFETY: the library did not take the loan.
            drop(unsafe { Arc::from_raw(lent) });
            Err(error)
        }
    }
}
