//! Nothing grows: 10,000 batches and 200 loaders, then resident memory, threads and open files as before. Alone in its
//! program, so that no other test moves the numbers.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;
mod samples;

use common::loader_of;
use dataline::{Array, Batch, Code, DType, Dataset, Field, Loader, Options, Record, Source, SourceError};

#[derive(Debug)]
struct Usage {
    resident_kib: u64,
    threads: u64,
    files: u64,
}

fn usage() -> Usage {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let number = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    Usage { resident_kib: number("VmRSS:"), threads: number("Threads:"), files }
}

struct Bytes;

impl Source for Bytes {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::U8, &[1024])]
    }

    fn len(&self) -> usize {
        64
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        match index % 16 {
            3 => Err("bad on purpose".into()),
            _ => record.put(0, &[index as u8; 1024]),
        }
    }
}

/// A batch that came through a format, an operator and a storage of the test's.
fn extended() -> dataline::Result<Batch> {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/extensions/files");
    let options = Options::new().extensions(&samples::samples()).set("transform", "offset(1,noise=2)");
    let missing = Dataset::open(&format!("dlrec:xor://{files}/x.gone"), &options);
    assert_eq!(missing.unwrap_err().code(), Code::NotFound);
    let dataset = Dataset::open(&format!("xor://{files}/x.dlrec"), &options)?;
    Loader::new(&dataset, &options.set("num_workers", 1))?.epoch().next().expect("a batch")
}

/// A loader on a file and one on a source, each taken a little way and left in the middle.
fn a_life(uri: &str) {
    let file = Dataset::open(uri, &Options::new()).unwrap();
    let lent = Dataset::lend_arrays(
        vec![7u8; 784_000],
        |rows| Ok(vec![Array::dense("x", &[1000, 784], rows)?]),
        &Options::new(),
    )
    .unwrap();
    let source = Dataset::from_source(Bytes, &Options::new()).unwrap();
    let mut held = Vec::new();
    held.push(extended().unwrap());
    for dataset in [&file, &lent, &source, &lent.subset(vec![1, 2, 3]).unwrap()] {
        let loader =
            loader_of(dataset, &[("batch_size", "4"), ("num_workers", "1"), ("shuffle", "full")]).unwrap();
        held.extend(loader.epoch().take(2).flatten());
        loader.wait_handle().unwrap();
        loader.save_state().unwrap();
        assert!(loader.load_state("nonsense").is_err());
        assert!(loader_of(dataset, &[("transform", "nonsense")]).is_err());
    }
}

#[test]
fn batches_loaders_and_errors_leave_nothing_behind() {
    let path = common::file("leaks.raw");
    std::fs::write(&path, vec![1u8; 784_000]).unwrap();
    let uri = format!("raw:{}?dtype=u8&shape=784", path.display());
    let options = [("batch_size", "10"), ("shuffle", "full"), ("num_workers", "1")];
    let loader = loader_of(&Dataset::open(&uri, &Options::new()).unwrap(), &options).unwrap();
    let take = |epochs: usize| (0..epochs).map(|_| loader.epoch().map(Result::unwrap).count()).sum::<usize>();
    take(10);
    (0..20).for_each(|_| a_life(&uri));
    let before = usage();
    assert_eq!(take(100), 10_000);
    (0..50).for_each(|_| a_life(&uri)); // four loaders each
    let after = usage();
    assert_eq!((after.threads, after.files), (before.threads, before.files), "{before:?} {after:?}");
    assert!(after.resident_kib < before.resident_kib + 2048, "{before:?} {after:?}");
}
