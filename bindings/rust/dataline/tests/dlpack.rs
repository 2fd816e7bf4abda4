//! Fields as DLPack tensors: what they say, whom they hold, who frees them; and streams on the CPU.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::dlpack::{DLDataType, DLManagedTensor, DLManagedTensorVersioned, DLTensor, Dlpack};
use dataline::{Array, Batch, Bf16, Code, Dataset, Device, Loader, Options, F16};
use std::mem::size_of;
use std::ptr;

fn first_batch(arrays: &[Array<'_>]) -> Batch {
    let dataset = Dataset::from_arrays(arrays, &Options::new()).unwrap();
    Loader::new(&dataset, &Options::new()).unwrap().epoch().next().unwrap().unwrap()
}

#[test]
fn the_structs_have_the_sizes_that_dlpack_gives_them() {
    assert_eq!(size_of::<DLTensor>(), 48);
    assert_eq!((size_of::<DLManagedTensor>(), size_of::<DLManagedTensorVersioned>()), (64, 80));
}

#[test]
fn a_tensor_is_the_field_itself() {
    let pixels: Vec<u16> = (0..3 * 2 * 4).collect();
    let batch = first_batch(&[Array::dense("image", &[3, 2, 4], &pixels).unwrap()]);
    let view = batch.tensor("image").unwrap();
    let exported = batch.dlpack("image").unwrap();
    let tensor = exported.tensor();
    assert_eq!(tensor.data as usize + tensor.byte_offset as usize, view.as_ptr() as usize);
    assert_eq!((exported.shape(), exported.strides()), (&[3, 2, 4][..], &[8, 4, 1][..]));
    assert_eq!(tensor.dtype, DLDataType { code: 1, bits: 16, lanes: 1 });
    assert_eq!((tensor.device.device_type, tensor.device.device_id), (1, 0));
    assert_eq!(exported.is_read_only(), view.is_read_only());
    assert!(!format!("{exported:?}").is_empty());
    let unversioned = batch.dlpack_unversioned("image").unwrap();
    assert_eq!((unversioned.shape(), unversioned.tensor().data), (exported.shape(), tensor.data));
}

#[test]
fn every_dtype_has_its_dlpack_type() {
    let batch = first_batch(&[
        Array::dense("i8", &[1], &[1i8]).unwrap(),
        Array::dense("u32", &[1], &[1u32]).unwrap(),
        Array::dense("f16", &[1], &[F16(0)]).unwrap(),
        Array::dense("bf16", &[1], &[Bf16(0)]).unwrap(),
        Array::dense("f64", &[1], &[1f64]).unwrap(),
        Array::dense("c64", &[1], &[[1f32, 2.0]]).unwrap(),
    ]);
    let types: Vec<(u8, u8)> = ["i8", "u32", "f16", "bf16", "f64", "c64"]
        .iter()
        .map(|name| batch.dlpack(name).unwrap().tensor().dtype)
        .map(|dtype| (dtype.code, dtype.bits))
        .collect();
    assert_eq!(types, [(0, 8), (1, 32), (2, 16), (4, 16), (2, 64), (5, 64)]);
}

#[test]
fn a_tensor_holds_its_batch_past_the_loader_and_gives_it_back_on_another_thread() {
    let loader = loader_of(&numbers(8), &[("batch_size", "8")]).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let (versioned, unversioned) = (batch.dlpack("x").unwrap(), batch.dlpack_unversioned("x").unwrap());
    drop(batch);
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    drop(versioned);
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    std::thread::spawn(move || drop(unversioned)).join().unwrap();
    assert_eq!(loader.stats().unwrap().leases_held, 0);

    let kept = loader.epoch().next().unwrap().unwrap().dlpack("x").unwrap();
    drop(loader);
    // SAFETY: eight i64, held by the tensor.
    let values = unsafe { std::slice::from_raw_parts(kept.tensor().data.cast::<i64>(), 8) };
    assert_eq!(values, (0..8).collect::<Vec<_>>());
}

#[test]
fn what_was_handed_on_is_freed_by_the_consumer() {
    let loader = loader_of(&numbers(4), &[]).unwrap();
    let raw = loader.epoch().next().unwrap().unwrap().dlpack("x").unwrap().into_raw();
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    // SAFETY: it was given up, so that a consumer calls its deleter, once.
    unsafe {
        assert_eq!(((*raw).version.major, (*raw).dl_tensor.ndim), (1, 1));
        (*raw).deleter.expect("a deleter")(raw);
    }
    assert_eq!(loader.stats().unwrap().leases_held, 0);

    let raw = loader.epoch().next().unwrap().unwrap().dlpack_unversioned("x").unwrap().into_raw();
    // SAFETY: it was given up once, and is taken back once.
    drop(unsafe { Dlpack::from_raw(raw) });
    assert_eq!(loader.stats().unwrap().leases_held, 0);
}

#[test]
fn what_must_not_be_written_to_says_so_or_is_refused() {
    let path = common::file("windows.bin");
    let tokens: Vec<u8> = (0..9u16).flat_map(u16::to_ne_bytes).collect();
    std::fs::write(&path, tokens).unwrap();
    let uri = format!("tokens:{}?length=4&dtype=u16&views=true", path.display());
    let dataset = Dataset::open(&uri, &Options::new()).unwrap();
    let batch = Loader::new(&dataset, &Options::new()).unwrap().epoch().next().unwrap().unwrap();
    let view = batch.tensor("y").unwrap();
    assert!(view.is_read_only() && !view.is_pinned());
    assert_eq!(view.device(), Device::Cpu);
    assert_eq!(view.span::<u16>().unwrap(), [1, 2, 3, 4, 4, 5, 6, 7, 8], "rows lie five apart");
    let exported = batch.dlpack("y").unwrap();
    assert!(exported.is_read_only());
    assert_eq!((exported.shape(), exported.strides()), (&[2, 4][..], view.strides()));
    assert_eq!(batch.dlpack_unversioned("y").unwrap_err().code(), Code::Unsupported);
}

#[test]
fn a_field_that_is_not_there_is_named_with_those_that_are() {
    let batch = first_batch(&[Array::dense("x", &[1], &[1u8]).unwrap()]);
    let error = batch.dlpack("y").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::NoSuchField, "no field 'y'; the fields are x"));
    assert_eq!(batch.dlpack_unversioned("y").unwrap_err().code(), Code::NoSuchField);
}

#[test]
fn on_the_cpu_a_stream_has_nothing_to_wait_for_and_release_is_a_drop() {
    let loader = loader_of(&numbers(4), &[]).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let other = batch.clone();
    // SAFETY: NULL is the default stream, and the CPU device looks at none.
    unsafe {
        batch.wait(ptr::null_mut()).unwrap();
        batch.release_on(ptr::null_mut()).unwrap();
    }
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    assert_eq!(other.view::<i64>("x").unwrap(), [0, 1, 2, 3]);
    drop(other);
    assert_eq!(loader.stats().unwrap().leases_held, 0);
}
