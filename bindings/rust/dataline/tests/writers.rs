//! Sets that Rust code writes: read back, gone on with, refused.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers};
use dataline::{Array, Code, DType, Dataset, Error, Field, Options, Writer};
use std::path::{Path, PathBuf};
use std::thread;

/// A folder of one test, empty at first and gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = common::file(&format!("writers-{test}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn set(&self) -> PathBuf {
        self.0.join("set")
    }
    fn uri(&self, format: &str) -> String {
        format!("{format}:{}", self.set().display())
    }
    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(&self.0));
    }
}

fn x() -> [Field; 1] {
    [Field::dense("x", DType::I64, &[])]
}

fn append(writer: &Writer, values: &[i64], position: &str) -> dataline::Result<()> {
    writer.append(&[Array::dense("x", &[values.len()], values)?], position)
}

/// All `x` of a set.
fn delivered(uri: &str) -> Vec<i64> {
    let set = Dataset::open(uri, &Options::new()).unwrap();
    let loader = loader_of(&set, &[("batch_size", "3"), ("num_workers", "0"), ("epochs", "1")]).unwrap();
    epoch_of(&loader).concat()
}

#[test]
fn dense_ragged_and_texts_come_back() {
    let folder = Folder::new("come-back");
    let fields = [
        Field::dense("image", DType::U8, &[2, 2]).with_axes("HW"),
        Field::dense("score", DType::F32, &[]),
        Field::ragged("tokens", DType::I32, &[]),
        Field::ragged("text", DType::U8, &[]),
    ];
    let images: Vec<u8> = (0..12).collect();
    let scores = [0.5f32, 1.5, -2.0];
    let writer = Writer::create(&folder.uri("arrow"), &fields, "").unwrap();
    writer
        .append(
            &[
                Array::dense("image", &[3, 2, 2], &images).unwrap(),
                Array::dense("score", &[3], &scores).unwrap(),
                Array::ragged("tokens", &[7i32, 8, 9], &[], &[0, 2, 2, 3]).unwrap(),
                Array::ragged("text", b"onefour", &[], &[0, 0, 3, 7]).unwrap(),
            ],
            "",
        )
        .unwrap();
    assert_eq!(writer.info().unwrap().samples, 3);
    assert!(!folder.has("set"));
    writer.finish().unwrap();
    assert!(folder.has("set") && !folder.has("set.partial"));
    assert_eq!(writer.info().unwrap().shards, 1);

    let set = Dataset::open(&folder.uri("arrow"), &Options::new()).unwrap();
    assert_eq!(set.fields()[0].axes, "HW");
    let batch = loader_of(&set, &[("batch_size", "3")]).unwrap().epoch().next().unwrap().unwrap();
    assert_eq!(batch.view::<u8>("image").unwrap(), images);
    assert_eq!(batch.view::<f32>("score").unwrap(), scores);
    let tokens: Vec<Vec<i32>> =
        batch.tensor("tokens").unwrap().rows::<i32>().unwrap().map(<[i32]>::to_vec).collect();
    assert_eq!(tokens, [vec![7, 8], vec![], vec![9]]);
    let texts: Vec<Vec<u8>> =
        batch.tensor("text").unwrap().rows::<u8>().unwrap().map(<[u8]>::to_vec).collect();
    assert_eq!(texts, [&b""[..], b"one", b"four"]);
}

#[test]
fn the_fields_of_a_dataset_are_those_of_a_writer() {
    let folder = Folder::new("fields");
    let source = numbers(20);
    let writer = Writer::create(&folder.uri("arrow"), &source.fields(), "").unwrap();
    let options = [("batch_size", "6"), ("shuffle", "full"), ("seed", "3"), ("epochs", "1")];
    let loader = loader_of(&source, &options).unwrap();
    let mut order = Vec::new();
    for values in epoch_of(&loader) {
        append(&writer, &values, "").unwrap();
        order.extend(values);
    }
    writer.finish().unwrap();
    assert_eq!(delivered(&folder.uri("arrow")), order);
}

#[test]
fn a_writer_goes_on_where_one_was_dropped_without_finish() {
    let folder = Folder::new("goes-on");
    let uri = folder.uri("arrow") + "?shard_bytes=1";
    let writer = Writer::create(&uri, &x(), "numbers").unwrap();
    assert_eq!(writer.position(), "");
    append(&writer, &[0, 1, 2], "3").unwrap();
    drop(writer);
    assert!(folder.has("set.partial") && !folder.has("set"));
    let refused = Writer::create(&uri, &x(), "others").unwrap_err();
    assert!(matches!(refused, Error::State(_)) && refused.code() == Code::StateRefused);
    assert!(refused.message().contains("it was started with 'numbers', now it is 'others'"), "{refused}");
    let writer = Writer::create(&uri, &x(), "numbers").unwrap();
    let info = writer.info().unwrap();
    assert_eq!((writer.position().as_str(), info.resumed_samples, info.samples), ("3", 3, 3));
    assert!(info.shards == 1 && info.bytes > 0);
    assert!(format!("{writer:?}").contains("resumed_samples: 3"));
    append(&writer, &[3, 4], "5").unwrap();
    writer.finish().unwrap();
    assert_eq!(delivered(&folder.uri("arrow")), [0, 1, 2, 3, 4]);
}

#[test]
fn targets_that_are_none_are_refused() {
    let folder = Folder::new("targets");
    let unknown = Writer::create(&folder.uri("idx"), &x(), "").unwrap_err();
    assert!(matches!(unknown, Error::Call(_)));
    assert_eq!((unknown.code(), unknown.column()), (Code::BadUri, Some(1)));
    assert!(
        unknown
            .message()
            .contains("'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens"),
        "{unknown}"
    );
    let refused = |uri: &str, fields: &[Field]| Writer::create(uri, fields, "").unwrap_err().code();
    let doubles = [Field::dense("x", DType::F64, &[])];
    assert_eq!(refused(&folder.uri("tfrecord"), &doubles), Code::Unsupported);
    assert_eq!(refused(&folder.uri("arrow"), &[]), Code::InvalidArgument);
    assert_eq!(refused("arrow:a\0b", &x()), Code::InvalidArgument);
    assert_eq!(refused(&folder.uri("arrow"), &[Field::dense("\0", DType::U8, &[])]), Code::InvalidArgument);
    assert!(!folder.has("set") && !folder.has("set.partial"));
    let first = Writer::create(&folder.uri("arrow"), &x(), "").unwrap();
    assert_eq!(refused(&folder.uri("arrow"), &x()), Code::WrongState); // two would write it
    drop(first);
    std::fs::create_dir(folder.set()).unwrap();
    let exists = Writer::create(&folder.uri("arrow"), &x(), "").unwrap_err();
    assert!(exists.code() == Code::WrongState && exists.message().contains("set: exists"), "{exists}");
}

#[test]
fn rows_that_do_not_fit_are_refused_and_the_writer_goes_on() {
    let folder = Folder::new("rows");
    let writer = Writer::create(&folder.uri("arrow"), &x(), "").unwrap();
    let small = writer.append(&[Array::dense("x", &[2], &[1i32, 2]).unwrap()], "").unwrap_err();
    assert!(matches!(small, Error::Data(_)) && small.code() == Code::Mismatch);
    assert!(small.message().contains("expected field 'x' (i64), got 'x' (i32)"), "{small}");
    let code = |arrays: &[Array<'_>]| writer.append(arrays, "").unwrap_err().code();
    assert_eq!(code(&[Array::dense("y", &[1], &[1i64]).unwrap()]), Code::Mismatch);
    assert_eq!(code(&[Array::dense("x", &[1, 2], &[1i64, 2]).unwrap()]), Code::Mismatch);
    assert_eq!(code(&[]), Code::InvalidArgument);
    assert_eq!(append(&writer, &[1], "a\0b").unwrap_err().code(), Code::InvalidArgument);
    let empty = writer.finish().unwrap_err();
    assert!(empty.code() == Code::Empty && empty.message().contains("no row was appended"), "{empty}");
    append(&writer, &[1, 2], "").unwrap();
    writer.finish().unwrap();
    assert_eq!(writer.finish().unwrap_err().code(), Code::WrongState);
    assert_eq!(append(&writer, &[3], "").unwrap_err().code(), Code::WrongState);
    assert_eq!(delivered(&folder.uri("arrow")), [1, 2]);
}

#[test]
fn four_threads_append_whole_pieces() {
    let folder = Folder::new("threads");
    let writer = Writer::create(&(folder.uri("arrow") + "?shard_bytes=512"), &x(), "").unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for first in (0..100).step_by(4).map(|at| 100 * thread + at) {
                    append(writer, &[first, first + 1, first + 2, first + 3], "").unwrap();
                    assert!(writer.info().unwrap().samples >= 4);
                }
            });
        }
    });
    writer.finish().unwrap();
    assert_eq!(writer.info().unwrap().samples, 400);
    let mut values = delivered(&folder.uri("arrow"));
    assert!(values.chunks(4).all(|piece| piece[3] == piece[0] + 3));
    values.sort_unstable();
    assert_eq!(values, (0..400).collect::<Vec<_>>());
}
