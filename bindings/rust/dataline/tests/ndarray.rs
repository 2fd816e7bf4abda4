//! Batches as array views, arrays as fields.
//!
//! SPDX-License-Identifier: Apache-2.0
#[path = "common/fake_cuda.rs"]
#[allow(dead_code)]
mod fake_cuda;

use dataline::{with_borrowed, Array, Batch, Code, Dataset, Loader, Options, F16};
use ndarray::{arr2, s, Array3, Axis, Ix1, Ix2, Ix3};

fn first(dataset: &Dataset<'_>, options: &Options) -> Batch {
    Loader::new(dataset, options).unwrap().epoch().next().unwrap().unwrap()
}

fn batch_of(arrays: &[Array<'_>]) -> Batch {
    first(&Dataset::from_arrays(arrays, &Options::new()).unwrap(), &Options::new())
}

#[test]
fn a_view_is_the_field_in_place() {
    let pixels = Array3::from_shape_fn((3, 2, 4), |(i, j, k)| (100 * i + 10 * j + k) as u16);
    let batch = batch_of(&[Array::from_ndarray("image", &pixels).unwrap()]);
    let view = batch.array::<u16, Ix3>("image").unwrap();
    assert_eq!(view, pixels);
    assert_eq!(view.as_ptr(), batch.view::<u16>("image").unwrap().as_ptr(), "no copy");
    let any = batch.array_dyn::<u16>("image").unwrap();
    assert_eq!((any.shape(), any[[2, 1, 3]]), (&[3, 2, 4][..], 213));
    assert_eq!(
        batch.tensor("image").unwrap().row_array::<u16>(1).unwrap(),
        pixels.index_axis(Axis(0), 1).into_dyn()
    );
}

#[test]
fn a_wrong_rank_type_or_name_is_refused() {
    let batch = batch_of(&[Array::dense("x", &[2, 3], &[1f32; 6]).unwrap()]);
    let error = batch.array::<f32, Ix1>("x").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Mismatch, "field 'x': rank is 2, expected 1"));
    let error = batch.array::<i64, Ix2>("x").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Mismatch, "field 'x': items are f32, expected i64"));
    assert_eq!(batch.array_dyn::<f32>("y").unwrap_err().code(), Code::NoSuchField);
}

#[test]
fn overlapping_windows_are_seen_with_their_strides() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("windows.bin");
    std::fs::write(&path, (0..9u16).flat_map(u16::to_ne_bytes).collect::<Vec<u8>>()).unwrap();
    let uri = format!("tokens:{}?length=4&dtype=u16&views=true", path.display());
    let batch = first(&Dataset::open(&uri, &Options::new()).unwrap(), &Options::new());
    assert_eq!(batch.array::<u16, Ix2>("x").unwrap(), arr2(&[[0, 1, 2, 3], [4, 5, 6, 7]]));
    assert_eq!(batch.array::<u16, Ix2>("y").unwrap(), arr2(&[[1, 2, 3, 4], [5, 6, 7, 8]]));
    assert_eq!(batch.tensor("y").unwrap().row_array::<u16>(1).unwrap().as_slice().unwrap(), [5, 6, 7, 8]);
}

#[test]
fn ragged_rows_are_arrays_of_their_own_length() {
    let points = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let batch = batch_of(&[Array::ragged("points", &points, &[2], &[0, 1, 4, 4]).unwrap()]);
    let tensor = batch.tensor("points").unwrap();
    assert_eq!(tensor.array::<f32, Ix2>().unwrap().shape(), [4, 2]);
    assert_eq!(tensor.row_array::<f32>(1).unwrap(), arr2(&[[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]).into_dyn());
    assert_eq!(tensor.row_array::<f32>(2).unwrap().shape(), [0, 2]);
}

#[test]
fn batches_without_rows_and_items_without_bytes_are_empty_views() {
    let batch = batch_of(&[Array::dense("x", &[2, 3], &[F16(0); 6]).unwrap()]);
    assert_eq!(batch.array_dyn::<F16>("x").unwrap().len(), 6);
    // Three ranks share one sample: two of them get none.
    let one =
        Dataset::from_arrays(&[Array::dense("x", &[1, 3], &[1f32; 3]).unwrap()], &Options::new()).unwrap();
    let options = Options::new().set("batch_size", 4).set("world_size", 3).set("rank", 0);
    let batch = first(&one, &options);
    assert_eq!(batch.array::<f32, Ix2>("x").unwrap().shape(), [batch.len(), 3]);
    assert!(batch.is_empty());
}

#[test]
fn arrays_are_borrowed_in_place_and_must_be_in_c_order() {
    let rows = arr2(&[[1i64, 2], [3, 4], [5, 6]]);
    let last = with_borrowed(&[Array::from_ndarray("x", &rows).unwrap()], &Options::new(), |dataset| {
        let batch = first(&dataset, &Options::new());
        batch.array::<i64, Ix2>("x").unwrap().row(2).to_owned()
    })
    .unwrap();
    assert_eq!(last, rows.row(2));
    for error in [
        Array::from_ndarray("x", &rows.t()).unwrap_err(),
        Array::from_ndarray("x", &rows.slice(s![.., 0..1])).unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("strides are"), "{error}");
    }
}

#[test]
fn a_field_on_a_device_is_refused_by_name() {
    let fake = match fake_cuda::FakeCuda::new() {
        Some(fake) => fake,
        None => return,
    };
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[2, 3], &[1f32; 6]).unwrap()], &Options::new());
    let batch = first(&dataset.unwrap(), &fake.options());
    let tensor = batch.tensor("x").unwrap();
    for error in [
        batch.array::<f32, Ix2>("x").err(),
        tensor.array_dyn::<f32>().err(),
        tensor.row_array::<f32>(0).err(),
    ] {
        let error = error.expect("an array over memory of a device");
        assert!(error.code() == Code::Unsupported && error.message().contains("cuda:0"), "{error}");
    }
}
