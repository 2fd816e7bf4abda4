//! The fake CUDA driver, as a consumer in the same process sees it.
//!
//! SPDX-License-Identifier: Apache-2.0
mod built;

use built::built;
use dataline::{Options, Tensor};
use std::ffi::{CStr, CString};
use std::mem::transmute_copy;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Held while a test uses the driver: it has one state in a process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub struct FakeCuda {
    library: *mut c_void,
    path: PathBuf,
    context: *mut c_void,
    _turn: MutexGuard<'static, ()>,
}

/// `DATALINE_FAKE_CUDA`, or the one that was built with the library.
fn library() -> Option<PathBuf> {
    let told = std::env::var_os("DATALINE_FAKE_CUDA");
    told.map(PathBuf::from).or_else(|| built("libfake_cuda.so"))
}

impl FakeCuda {
    /// As new. `None`, after a word on stderr, where there is no fake driver.
    pub fn new() -> Option<FakeCuda> {
        let path = library();
        if path.is_none() {
            eprintln!("skipped: there is no libfake_cuda.so (DATALINE_FAKE_CUDA)");
        }
        let path = path?;
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a live text; 2: RTLD_NOW.
        let library = unsafe { dlopen(text.as_ptr(), 2) };
        assert!(!library.is_null(), "{path:?} cannot be opened");
        let mut fake = FakeCuda { library, path, context: std::ptr::null_mut(), _turn: turn };
        let mut context = std::ptr::null_mut();
        // SAFETY: the signatures are those of fake_cuda.h and of the driver.
        unsafe {
            fake.call::<unsafe extern "C" fn()>("fake_cuda_reset")();
            fake.call::<unsafe extern "C" fn(u64)>("fake_cuda_seed")(1);
            assert_eq!(fake.call::<unsafe extern "C" fn(c_uint) -> c_int>("cuInit")(0), 0);
            let retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int =
                fake.call("cuDevicePrimaryCtxRetain");
            assert_eq!(retain(&mut context, 0), 0);
        }
        fake.context = context;
        Some(fake)
    }

    /// # Safety
    /// `F` is the function pointer that the driver has under this name.
    unsafe fn call<F>(&self, name: &str) -> F {
        let name = CString::new(name).unwrap();
        let symbol = dlsym(self.library, name.as_ptr());
        assert!(!symbol.is_null(), "no {name:?}");
        transmute_copy(&symbol)
    }

    /// Options of a loader on its device 0.
    pub fn options(&self) -> Options {
        Options::new().set("device", "cuda:0").set("cuda_library", self.path.to_str().unwrap())
    }

    fn current<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut popped = std::ptr::null_mut();
        // SAFETY: the driver's signatures; a context that is retained.
        unsafe {
            let push: unsafe extern "C" fn(*mut c_void) -> c_int = self.call("cuCtxPushCurrent_v2");
            let pop: unsafe extern "C" fn(*mut *mut c_void) -> c_int = self.call("cuCtxPopCurrent_v2");
            assert_eq!(push(self.context), 0);
            let done = work();
            assert_eq!(pop(&mut popped), 0);
            done
        }
    }

    pub fn stream(&self) -> *mut c_void {
        let mut stream = std::ptr::null_mut();
        self.current(|| {
            // SAFETY: the driver's signature.
            let create: unsafe extern "C" fn(*mut *mut c_void, c_uint) -> c_int =
                unsafe { self.call("cuStreamCreate") };
            assert_eq!(unsafe { create(&mut stream, 1) }, 0);
        });
        stream
    }

    /// The first `bytes` of a field, read in `stream` and waited for.
    pub fn read(&self, field: &Tensor<'_>, bytes: usize, stream: *mut c_void) -> Vec<u8> {
        let mut to = vec![0u8; bytes];
        self.current(|| {
            // SAFETY: the driver's signatures; `to` lives until the stream is done.
            unsafe {
                let copy: unsafe extern "C" fn(*mut c_void, u64, usize, *mut c_void) -> c_int =
                    self.call("cuMemcpyDtoHAsync_v2");
                let wait: unsafe extern "C" fn(*mut c_void) -> c_int = self.call("cuStreamSynchronize");
                assert_eq!(copy(to.as_mut_ptr().cast(), field.as_ptr() as u64, bytes, stream), 0);
                assert_eq!(wait(stream), 0);
            }
        });
        to
    }

    /// What the driver found wrong with its callers.
    pub fn misuses(&self) -> Vec<String> {
        // SAFETY: the signatures of fake_cuda.h; the texts live until the next reset.
        unsafe {
            let count: unsafe extern "C" fn() -> i64 = self.call("fake_cuda_misuses");
            let text: unsafe extern "C" fn(i64) -> *const c_char = self.call("fake_cuda_misuse");
            (0..count()).map(|i| CStr::from_ptr(text(i)).to_string_lossy().into_owned()).collect()
        }
    }
}
