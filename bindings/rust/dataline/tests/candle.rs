//! Batches as candle tensors: shapes, types, values, what is refused.
//!
//! SPDX-License-Identifier: Apache-2.0
#[path = "common/fake_cuda.rs"]
#[allow(dead_code)]
mod fake_cuda;

use candle_core::{DType, Device, IndexOp};
use dataline::candle::Error;
use dataline::{Array, Batch, Bf16, Code, Dataset, Loader, Options, F16};

const CPU: Device = Device::Cpu;

fn first(dataset: &Dataset<'_>, options: &Options) -> Batch {
    Loader::new(dataset, options).unwrap().epoch().next().unwrap().unwrap()
}

fn batch_of(arrays: &[Array<'_>]) -> Batch {
    first(&Dataset::from_arrays(arrays, &Options::new()).unwrap(), &Options::new())
}

#[test]
fn a_tensor_has_the_shape_type_and_values_of_its_field() {
    let pixels: Vec<f32> = (0..3 * 2 * 4).map(|i| i as f32).collect();
    let batch = batch_of(&[Array::dense("image", &[3, 2, 4], &pixels).unwrap()]);
    let tensor = batch.candle("image", &CPU).unwrap();
    drop(batch);
    assert_eq!((tensor.dims(), tensor.dtype()), (&[3, 2, 4][..], DType::F32));
    assert_eq!(tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap(), pixels);
    assert_eq!(tensor.i((2, 1, 3)).unwrap().to_scalar::<f32>().unwrap(), 23.0);
}

#[test]
fn every_dtype_that_both_have_comes_through() {
    let batch = batch_of(&[
        Array::dense("u8", &[1], &[200u8]).unwrap(),
        Array::dense("u32", &[1], &[1u32]).unwrap(),
        Array::dense("i16", &[1], &[-1i16]).unwrap(),
        Array::dense("i32", &[1], &[1i32]).unwrap(),
        Array::dense("i64", &[1], &[1i64]).unwrap(),
        Array::dense("f16", &[1], &[F16(0x3C00)]).unwrap(),
        Array::dense("bf16", &[1], &[Bf16(0x4000)]).unwrap(),
        Array::dense("f64", &[1], &[0.5f64]).unwrap(),
    ]);
    let values: Vec<(DType, f64)> = batch
        .tensors()
        .map(|field| batch.candle(field.name(), &CPU).unwrap())
        .map(|tensor| (tensor.dtype(), tensor.to_dtype(DType::F64).unwrap().to_vec1::<f64>().unwrap()[0]))
        .collect();
    let expected = [
        (DType::U8, 200.0),
        (DType::U32, 1.0),
        (DType::I16, -1.0),
        (DType::I32, 1.0),
        (DType::I64, 1.0),
        (DType::F16, 1.0),
        (DType::BF16, 2.0),
        (DType::F64, 0.5),
    ];
    assert_eq!(values, expected);
}

#[test]
fn a_dtype_that_candle_lacks_names_the_transform_that_helps() {
    let batch = batch_of(&[Array::dense("depth", &[1], &[1u16]).unwrap()]);
    let error = batch.candle("depth", &CPU).unwrap_err();
    assert!(matches!(&error, Error::Dataline(error) if error.code() == Code::Unsupported), "{error:?}");
    assert!(error.to_string().contains("depth: cast("), "{error}");
    let error = batch.candle("x", &CPU).unwrap_err();
    assert!(matches!(&error, Error::Dataline(error) if error.code() == Code::NoSuchField), "{error:?}");
    let error = candle_core::Error::from(error);
    assert!(error.to_string().contains("no field 'x'"), "{error}");
}

#[test]
fn overlapping_windows_are_joined() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("windows.bin");
    std::fs::write(&path, (0..9u32).flat_map(u32::to_ne_bytes).collect::<Vec<u8>>()).unwrap();
    let uri = format!("tokens:{}?length=4&dtype=u32&views=true", path.display());
    let batch = first(&Dataset::open(&uri, &Options::new()).unwrap(), &Options::new());
    let y = batch.candle("y", &CPU).unwrap().to_vec2::<u32>().unwrap();
    assert_eq!(y, [[1, 2, 3, 4], [5, 6, 7, 8]]);
}

#[test]
fn a_ragged_field_is_its_items_and_where_its_rows_begin() {
    let points = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let batch = batch_of(&[Array::ragged("points", &points, &[2], &[0, 1, 3]).unwrap()]);
    assert_eq!(batch.candle("points", &CPU).unwrap().dims(), [3, 2]);
    assert_eq!(batch.candle_offsets("points", &CPU).unwrap().to_vec1::<i64>().unwrap(), [0, 1, 3]);
    let batch = batch_of(&[Array::dense("x", &[1], &[1u8]).unwrap()]);
    assert!(batch.candle_offsets("x", &CPU).unwrap_err().to_string().contains("not ragged"));
}

#[test]
fn a_field_on_a_device_is_refused_by_name() {
    let fake = match fake_cuda::FakeCuda::new() {
        Some(fake) => fake,
        None => return,
    };
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[2], &[1f32; 2]).unwrap()], &Options::new());
    let error = first(&dataset.unwrap(), &fake.options()).candle("x", &CPU).unwrap_err();
    assert!(matches!(&error, Error::Dataline(error) if error.code() == Code::Unsupported), "{error:?}");
    assert!(error.to_string().contains("cuda:0"), "{error}");
}
