//! What this crate costs a batch above the calls of the C interface that it makes (next, views, release): both loops
//! in turn, over the same loader, the least of several rounds. Batches of one byte, made by the calling thread.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Array, Dataset, Loader, Next, Options};
use dataline_sys as sys;
use std::ptr;
use std::time::Instant;

const BATCHES: usize = 100_000;
const ROUNDS: usize = 15;

/// The C interface as a C program uses it.
struct Raw(*mut sys::dl_loader);

impl Raw {
    fn new() -> Raw {
        let data = [1u8; 64];
        let shape = [64i64];
        let array = sys::dl_array {
            struct_size: std::mem::size_of::<sys::dl_array>() as u32,
            name: b"x\0".as_ptr().cast(),
            dtype: sys::DL_DTYPE_U8,
            rank: 1,
            shape: shape.as_ptr(),
            data: data.as_ptr().cast(),
            ..Default::default()
        };
        let (mut dataset, mut options, mut loader) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let no_error = ptr::null_mut();
        // SAFETY: a program on the C interface; each status is looked at.
        unsafe {
            let made = sys::dl_dataset_from_arrays(
                &array,
                1,
                None,
                ptr::null_mut(),
                ptr::null(),
                &mut dataset,
                no_error,
            );
            assert_eq!(made, 0);
            assert_eq!(sys::dl_options_create(&mut options, no_error), 0);
            assert_eq!(
                sys::dl_options_set(
                    options,
                    b"batch_size\0".as_ptr().cast(),
                    b"1\0".as_ptr().cast(),
                    no_error
                ),
                0
            );
            assert_eq!(
                sys::dl_options_set(
                    options,
                    b"num_workers\0".as_ptr().cast(),
                    b"0\0".as_ptr().cast(),
                    no_error
                ),
                0
            );
            assert_eq!(sys::dl_loader_create(dataset, options, &mut loader, no_error), 0);
            sys::dl_options_destroy(options);
            sys::dl_dataset_destroy(dataset);
        }
        Raw(loader)
    }

    fn run(&self) -> u64 {
        let mut sum = 0;
        let mut batches = 0;
        let mut error =
            sys::dl_error { struct_size: std::mem::size_of::<sys::dl_error>() as u32, ..Default::default() };
        while batches < BATCHES {
            let mut batch = ptr::null_mut();
            let mut count = 0;
            // SAFETY: as above.
            unsafe {
                match sys::dl_loader_next(self.0, -1, &mut batch, &mut error) {
                    sys::DL_OK => (),
                    sys::DL_END_OF_EPOCH => continue,
                    status => panic!("status {status}"),
                }
                let views = sys::dl_batch_views(batch, &mut count);
                sum += u64::from(*(*views).data.cast::<u8>());
                sys::dl_batch_release(batch);
            }
            batches += 1;
        }
        sum
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the only owner.
        unsafe { sys::dl_loader_destroy(self.0) };
    }
}

fn run(loader: &Loader<'_>) -> dataline::Result<u64> {
    let mut sum = 0;
    let mut batches = 0;
    while batches < BATCHES {
        if let Next::Batch(batch) = loader.next(None)? {
            sum += u64::from(batch.view::<u8>("x")?[0]);
            batches += 1;
        }
    }
    Ok(sum)
}

fn main() -> dataline::Result<()> {
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[64], &[1u8; 64])?], &Options::new())?;
    let loader = Loader::new(&dataset, &Options::new().set("batch_size", 1).set("num_workers", 0))?;
    let raw = Raw::new();
    let (mut least_c, mut least_rust) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        assert_eq!(raw.run(), BATCHES as u64);
        least_c = least_c.min(began.elapsed().as_secs_f64());
        let began = Instant::now();
        assert_eq!(run(&loader)?, BATCHES as u64);
        least_rust = least_rust.min(began.elapsed().as_secs_f64());
    }
    let each = 1e9 / BATCHES as f64;
    println!("C: {:.1} ns a batch; Rust: {:.1} ns a batch", least_c * each, least_rust * each);
    println!("above C: {:.1} ns a batch", (least_rust - least_c) * each);
    Ok(())
}
