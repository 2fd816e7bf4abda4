//! What the copy into a candle tensor costs: batches of 256 rows of 784 u8, and the same normalised to f32, taken as views
//! and taken as tensors, in turn; medians.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(clippy::incompatible_msrv)] // candle needs a newer Rust than the crate without it
use candle_core::Device;
use dataline::{Array, Dataset, Loader, Options};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 60_000;
const ROUNDS: usize = 7;

type Failure = Box<dyn std::error::Error>;

fn microseconds(loader: &Loader<'_>, tensors: bool) -> Result<f64, Failure> {
    let began = Instant::now();
    let mut batches = 0;
    for batch in loader {
        let batch = batch?;
        if tensors {
            black_box(batch.candle("image", &Device::Cpu)?);
        } else {
            black_box(batch.tensor("image")?.bytes()?);
        }
        batches += 1;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(batches))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Failure> {
    let rows: Vec<u8> = (0..ROWS * 784).map(|i| (i * 31 % 251) as u8).collect();
    let image = Array::dense("image", &[ROWS, 28, 28], &rows)?.with_axes("HW")?;
    let dataset = Dataset::from_arrays(&[image], &Options::new())?;
    for (name, transform) in [("u8", ""), ("f32", "normalize(mnist)")] {
        let options =
            Options::new().set("batch_size", 256).set("shuffle", "full").set("transform", transform);
        let loader = Loader::new(&dataset, &options)?;
        let (mut views, mut tensors) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            views.push(microseconds(&loader, false)?);
            tensors.push(microseconds(&loader, true)?);
        }
        let (views, tensors) = (median(views), median(tensors));
        println!("256 rows of 784 {name}: {views:.1} us a batch as a view, {tensors:.1} us as a tensor");
    }
    Ok(())
}
