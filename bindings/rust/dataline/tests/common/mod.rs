//! What the tests share.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(dead_code)]

mod built;

use dataline::{Array, Dataset, Loader, Options, Result};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// `x`: the index of each sample.
pub fn numbers(count: usize) -> Dataset<'static> {
    let values: Vec<i64> = (0..count as i64).collect();
    Dataset::from_arrays(&[Array::dense("x", &[count], &values).unwrap()], &Options::new()).unwrap()
}

pub fn loader_of(dataset: &Dataset<'static>, options: &[(&str, &str)]) -> Result<Loader<'static>> {
    Loader::new(dataset, &options.iter().fold(Options::new(), |all, (key, value)| all.set(key, *value)))
}

/// All `x` of an epoch, batch by batch.
pub fn epoch_of(loader: &Loader<'_>) -> Vec<Vec<i64>> {
    loader.epoch().map(|batch| batch.unwrap().view::<i64>("x").unwrap().to_vec()).collect()
}

/// Counts how often its clones' data was dropped.
#[derive(Clone, Default)]
pub struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Data that tells when it is dropped.
pub struct Told<T> {
    pub data: T,
    pub drops: Drops,
}

impl<T> Told<T> {
    pub fn new(data: T, drops: &Drops) -> Told<T> {
        Told { data, drops: drops.clone() }
    }
}

impl<T> Drop for Told<T> {
    fn drop(&mut self) {
        self.drops.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl<I> AsRef<[I]> for Told<Vec<I>> {
    fn as_ref(&self) -> &[I] {
        &self.data
    }
}

/// A file of this test run.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A plug-in of `tests/extensions`. `None`, after a word on stderr, where it was not built.
pub fn plugin(name: &str) -> Option<String> {
    let path = built::built(&format!("libdataline-{name}.so"));
    if path.is_none() {
        eprintln!("skipped: there is no libdataline-{name}.so (DATALINE_LIB_DIR)");
    }
    path.map(|path| path.into_os_string().into_string().unwrap())
}

/// What the program `dataline` writes on standard output.
pub fn shell(arguments: &[&str]) -> Vec<u8> {
    let program = std::env::var_os("DATALINE_BIN").unwrap_or_else(|| "dataline".into());
    let output = Command::new(&program).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("{program:?}: {error}; DATALINE_BIN names the program"));
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
