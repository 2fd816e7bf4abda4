//! Batches: typed views, shapes, rows, identities, leases.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{Array, Batch, Bf16, Code, DType, Dataset, Kind, Loader, Next, Options, F16};

fn first_batch(arrays: &[Array<'_>], options: &Options) -> Batch {
    let dataset = Dataset::from_arrays(arrays, &Options::new()).unwrap();
    match Loader::new(&dataset, options).unwrap().next(None).unwrap() {
        Next::Batch(batch) => batch,
        other => panic!("expected a batch, got {other:?}"),
    }
}

#[test]
fn a_view_has_the_type_shape_and_bytes_of_its_field() {
    let pixels: Vec<u16> = (0..3 * 2 * 4).collect();
    let image = Array::dense("image", &[3, 2, 4], &pixels).unwrap().with_axes("HW").unwrap();
    let batch = first_batch(&[image], &Options::new());
    let tensor = batch.tensor("image").unwrap();
    assert_eq!((tensor.name(), tensor.kind(), tensor.dtype()), ("image", Kind::Dense, DType::U16));
    assert_eq!((tensor.shape(), tensor.strides()), (&[3, 2, 4][..], &[8, 4, 1][..]));
    assert_eq!(tensor.axes(), "NHW");
    assert_eq!(batch.view::<u16>("image").unwrap(), &pixels[..]);
    assert_eq!(tensor.row::<u16>(2).unwrap(), &pixels[16..]);
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_ne_bytes()).collect();
    assert_eq!(tensor.bytes().unwrap(), &bytes[..]);
}

#[test]
fn every_element_type_comes_through() {
    let halves = [F16(0x3C00), F16(0xC000)];
    let brains = [Bf16(0x3F80), Bf16(0x4000)];
    let complex = [[1.0f32, -1.0], [2.0, -2.0]];
    let arrays = [
        Array::dense("f16", &[2], &halves).unwrap(),
        Array::dense("bf16", &[2], &brains).unwrap(),
        Array::dense("c64", &[2], &complex).unwrap(),
        Array::dense("i8", &[2], &[-1i8, 1]).unwrap(),
        Array::dense("u32", &[2], &[u32::MAX, 1]).unwrap(),
        Array::dense("f64", &[2], &[0.5f64, -0.5]).unwrap(),
    ];
    let batch = first_batch(&arrays, &Options::new());
    let floats: Vec<f32> = batch.view::<F16>("f16").unwrap().iter().map(|half| half.to_f32()).collect();
    assert_eq!(floats, [1.0, -2.0]);
    let floats: Vec<f32> = batch.view::<Bf16>("bf16").unwrap().iter().map(|brain| brain.to_f32()).collect();
    assert_eq!(floats, [1.0, 2.0]);
    assert_eq!(batch.view::<[f32; 2]>("c64").unwrap(), complex);
    assert_eq!(batch.view::<i8>("i8").unwrap(), [-1, 1]);
    assert_eq!(batch.view::<u32>("u32").unwrap(), [u32::MAX, 1]);
    assert_eq!(batch.view::<f64>("f64").unwrap(), [0.5, -0.5]);
    let names: Vec<&str> = batch.tensors().map(|tensor| tensor.name()).collect();
    assert_eq!(names, ["f16", "bf16", "c64", "i8", "u32", "f64"]);
}

#[test]
fn a_wrong_type_or_name_is_refused_with_what_there_is() {
    let batch = first_batch(&[Array::dense("x", &[2], &[1i64, 2]).unwrap()], &Options::new());
    let error = batch.view::<f32>("x").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Mismatch, "field 'x': items are i64, expected f32"));
    let error = batch.view::<i64>("y").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::NoSuchField, "no field 'y'; the fields are x"));
    let error = batch.tensor("x").unwrap().row::<i64>(2).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::OutOfRange, "field 'x': row 2: expected less than 2"));
}

#[test]
fn ragged_rows_have_their_own_lengths() {
    let text = Array::ragged("text", b"abcde", &[], &[0, 2, 2, 5]).unwrap();
    let points = [[0.0f32, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]].concat();
    let points = Array::ragged("points", &points, &[2], &[0, 1, 4, 4]).unwrap();
    let batch = first_batch(&[text, points], &Options::new());
    let text = batch.tensor("text").unwrap();
    assert_eq!((text.kind(), text.len(), text.shape()), (Kind::Ragged, 3, &[5][..]));
    assert_eq!(text.offsets().unwrap(), [0, 2, 2, 5]);
    assert_eq!(text.rows::<u8>().unwrap().collect::<Vec<_>>(), [&b"ab"[..], b"", b"cde"]);
    let points = batch.tensor("points").unwrap();
    assert_eq!(points.shape(), [4, 2]);
    assert_eq!(points.row::<f32>(1).unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert!(points.row::<f32>(2).unwrap().is_empty());
    assert_eq!(points.row_bytes(1).unwrap().len(), 24);
    assert_eq!(text.row_bytes(2).unwrap(), b"cde");
    assert_eq!(text.row_bytes(3).unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn overlapping_windows_are_read_row_by_row() {
    let path = common::file("tokens.bin");
    let tokens: Vec<u8> = (0..9u16).flat_map(|token| token.to_ne_bytes()).collect();
    std::fs::write(&path, tokens).unwrap();
    let uri = format!("tokens:{}?length=4&dtype=u16&views=true", path.display());
    let dataset = Dataset::open(&uri, &Options::new()).unwrap();
    let batch = Loader::new(&dataset, &Options::new()).unwrap().epoch().next().unwrap().unwrap();
    let (x, y) = (batch.tensor("x").unwrap(), batch.tensor("y").unwrap());
    assert!(x.is_overlapping() && !x.is_packed());
    assert_eq!(x.as_slice::<u16>().unwrap_err().code(), Code::Unsupported);
    assert_eq!(x.bytes().unwrap_err().code(), Code::Unsupported);
    assert_eq!(x.rows::<u16>().unwrap().collect::<Vec<_>>(), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(y.rows::<u16>().unwrap().collect::<Vec<_>>(), [[1, 2, 3, 4], [5, 6, 7, 8]]);
}

#[test]
fn a_batch_knows_its_samples_and_which_of_them_are_pads() {
    let options = [("batch_size", "4"), ("last_batch", "pad"), ("epochs", "1")];
    let loader = loader_of(&numbers(6), &options).unwrap();
    let batches: Vec<Batch> = loader.epoch().map(Result::unwrap).collect();
    let info = batches[1].info();
    assert_eq!((info.epoch, info.step, info.samples, info.valid), (0, 1, 4, 2));
    assert_eq!(batches[1].sample_indices(), [4, 5, 0, 1]);
    assert_eq!(batches[1].sample_sources(), [0, 0, 0, 0]);
    assert_eq!(batches[1].view::<i64>("x").unwrap(), [4, 5, 0, 1]);
}

#[test]
fn batches_outlive_the_loader_and_the_dataset() {
    let loader = loader_of(&numbers(100), &[("batch_size", "10"), ("epochs", "1")]).unwrap();
    // More than max_leases: the later ones are copies.
    let batches: Vec<Batch> = loader.epoch().map(Result::unwrap).collect();
    assert_eq!(loader.stats().unwrap().lease_copies, 6);
    drop(loader);
    for (step, batch) in batches.iter().enumerate() {
        let first = step as i64 * 10;
        assert_eq!(batch.view::<i64>("x").unwrap(), (first..first + 10).collect::<Vec<_>>());
    }
}

#[test]
fn a_clone_holds_the_same_lease_and_goes_to_other_threads() {
    let loader = loader_of(&numbers(8), &[("batch_size", "8")]).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let address = batch.view::<i64>("x").unwrap().as_ptr() as usize;
    let clone = batch.clone();
    drop(batch);
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    let elsewhere = std::thread::spawn(move || {
        let view = clone.view::<i64>("x").unwrap();
        (view.as_ptr() as usize, view.iter().sum::<i64>())
    });
    assert_eq!(elsewhere.join().unwrap(), (address, 28));
    assert_eq!(loader.stats().unwrap().leases_held, 0);
}

#[test]
fn one_sample_is_read_through_a_transform() {
    let dataset = numbers(10);
    let batch = dataset.read(7, &Options::new().set("transform", "x: cast(f32)")).unwrap();
    assert_eq!(batch.view::<f32>("x").unwrap(), [7.0]);
    assert_eq!(dataset.read(10, &Options::new()).unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn a_frame_loop_loads_a_batch_in_pieces() {
    let loader = loader_of(&numbers(4000), &[("batch_size", "4000"), ("num_workers", "0")]).unwrap();
    let mut frames = 1;
    while !loader.work(std::time::Duration::from_nanos(1)).unwrap() {
        frames += 1;
    }
    assert!(frames > 1);
    assert_eq!(loader.epoch().next().unwrap().unwrap().view::<i64>("x").unwrap().len(), 4000);
}
