//! The extensions in Rust, and those of the plug-in in C, pass the cases of `tests/extensions` in the checkout.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;
mod samples;

use common::plugin;
use dataline::{Batch, Code, Dataset, Error, Extensions, Loader, Options};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/extensions")
}

/// FNV-1a-64.
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        let one = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        self.0 = bytes.iter().fold(self.0, one);
    }

    fn add_batch(&mut self, batch: &Batch) -> Result<(), Error> {
        for index in batch.sample_indices() {
            self.add(&index.to_ne_bytes());
        }
        for tensor in batch.tensors() {
            self.add(tensor.bytes()?);
        }
        Ok(())
    }
}

fn digest_of(uri: &str, options: &Options) -> Result<String, Error> {
    let loader = Loader::new(&Dataset::open(uri, options)?, options)?;
    let mut digest = Digest(0xCBF2_9CE4_8422_2325);
    loop {
        let mut batches = 0;
        for batch in &loader {
            digest.add_batch(&batch?)?;
            batches += 1;
        }
        if batches == 0 {
            return Ok(format!("{:016x}", digest.0));
        }
    }
}

/// What is wrong, if anything.
fn wrong(case: &[&str], extensions: &Extensions) -> Option<String> {
    let (name, uri, options, expected) = match case {
        [name, uri, options, expected] => (name, uri, options, expected),
        _ => return Some(format!("{case:?}: not a case")),
    };
    let uri = uri.replace('@', folder().join("files").to_str().unwrap());
    let settings = options.split_whitespace().map(|setting| setting.split_once('=').unwrap());
    let options = Options::new().extensions(extensions);
    let options = settings.fold(options, |options, (key, value)| options.set(key, value));
    let (fits, got) = match digest_of(&uri, &options) {
        Ok(digest) => (digest == *expected, digest),
        Err(error) => {
            let (code, part) = expected.split_once(' ').unwrap_or((*expected, ""));
            let fits = error.code().to_string() == code && error.message().contains(part);
            (fits, format!("{} {error}", error.code()))
        }
    };
    (!fits).then(|| format!("{name}: expected {expected}, got {got}"))
}

/// Expects of the extensions what `cases.txt` says.
fn check_cases(extensions: &Extensions) {
    let text = std::fs::read_to_string(folder().join("cases.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cases: Vec<Vec<&str>> = lines.map(|line| line.split('|').map(str::trim).collect()).collect();
    assert!(cases.len() >= 25, "{} cases", cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|case| wrong(case, extensions)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_extensions_in_rust_give_what_is_expected() {
    check_cases(&samples::samples());
}

#[test]
fn the_plug_in_gives_what_the_extensions_in_rust_give() {
    let path = match plugin("samples") {
        Some(path) => path,
        None => return,
    };
    let mut extensions = Extensions::new().unwrap();
    extensions.load(&path).unwrap();
    check_cases(&extensions);
    let error = extensions.load(&path).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "what is there already is refused: {error}");
}
