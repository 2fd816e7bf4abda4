//! As burn uses a data loader: passes, progress, slices, devices, errors; and tensors over a batch's own memory.
//!
//! SPDX-License-Identifier: Apache-2.0
use burn_core::data::dataloader::split::split_dataloader;
use burn_core::data::dataloader::DataLoader;
use burn_core::tensor::{DType, Device, Int, Tensor};
use dataline::{
    Array, Batch, Code, DType as Of, Dataset, Field, Loader, Options, Record, Result, Source, SourceError,
};
use dataline_burn::{BatchExt, BurnLoader};
use std::error::Error as _;
use std::sync::Arc;

fn numbers(count: usize) -> Dataset<'static> {
    let values: Vec<i64> = (0..count as i64).collect();
    Dataset::from_arrays(&[Array::dense("x", &[count], &values).unwrap()], &Options::new()).unwrap()
}

fn indices(batch: &Batch, _: &Device) -> Result<Vec<i64>> {
    Ok(batch.view::<i64>("x")?.to_vec())
}

fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().fold(Options::new(), |all, (key, value)| all.set(key, *value))
}

fn loader_of(dataset: Dataset<'static>, pairs: &[(&str, &str)]) -> BurnLoader<Vec<i64>> {
    BurnLoader::new(dataset, options(pairs), indices).unwrap()
}

fn pass<O>(loader: &dyn DataLoader<O>) -> Vec<O> {
    loader.iter().map(|item| item.unwrap()).collect()
}

#[test]
fn a_pass_is_one_epoch_and_progress_counts_its_items() {
    let loader = loader_of(numbers(10), &[("batch_size", "4")]);
    assert_eq!(loader.num_items(), 10);
    let mut iterator = loader.iter();
    let mut seen = Vec::new();
    while let Some(batch) = iterator.next() {
        let progress = iterator.progress();
        seen.push((batch.unwrap(), progress.items_processed, progress.items_total));
    }
    let expected = [(vec![0, 1, 2, 3], 4, 10), (vec![4, 5, 6, 7], 8, 10), (vec![8, 9], 10, 10)];
    assert_eq!(seen, expected);
    assert!(iterator.progress().is_completed());
    assert!(iterator.next().is_none());
}

#[test]
fn pass_k_is_epoch_k_whatever_became_of_the_one_before() {
    let shuffled = [("batch_size", "4"), ("shuffle", "full"), ("seed", "7")];
    let plain = Loader::new(&numbers(10), &options(&shuffled)).unwrap();
    let epochs: Vec<Vec<Vec<i64>>> = (0..4)
        .map(|_| plain.epoch().map(|batch| batch.unwrap().view::<i64>("x").unwrap().to_vec()).collect())
        .collect();
    let loader = loader_of(numbers(10), &shuffled);
    assert_eq!(pass(&loader), epochs[0]);
    assert_eq!(loader.iter().next().unwrap().unwrap(), epochs[1][0], "and left in the middle");
    let (third, fourth) = (loader.iter(), loader.iter()); // at the same time
    assert_eq!(fourth.map(|batch| batch.unwrap()).collect::<Vec<_>>(), epochs[3]);
    assert_eq!(third.map(|batch| batch.unwrap()).collect::<Vec<_>>(), epochs[2]);
    assert_ne!(epochs[0], epochs[1]);
    let later = [&shuffled[..], &[("start_epoch", "2")]].concat();
    assert_eq!(pass(&loader_of(numbers(10), &later)), epochs[2]);
}

#[test]
fn items_are_counted_as_the_options_say() {
    let count = |pairs: &[(&str, &str)]| {
        let loader = loader_of(numbers(10), pairs);
        let delivered: usize = pass(&loader).iter().map(Vec::len).sum();
        assert_eq!(loader.num_items(), delivered, "{pairs:?}");
        delivered
    };
    assert_eq!(count(&[("batch_size", "4"), ("drop_last", "true")]), 8);
    assert_eq!(count(&[("batch_size", "4"), ("last_batch", "pad")]), 12);
    assert_eq!(count(&[("batch_size", "100")]), 10);
    let ranks =
        ["0", "1", "2"].map(|rank| count(&[("batch_size", "1"), ("world_size", "3"), ("rank", rank)]));
    assert_eq!(ranks.iter().sum::<usize>(), 10);
    let ranks =
        ["0", "1"].map(|rank| count(&[("global_batch_size", "7"), ("world_size", "2"), ("rank", rank)]));
    assert_eq!(ranks.iter().sum::<usize>(), 10);
}

#[test]
fn a_slice_is_a_part_with_the_same_batches_size_and_order() {
    let loader = loader_of(numbers(10), &[("batch_size", "4")]);
    let slice = loader.slice(3, 9);
    assert_eq!((slice.num_items(), pass(&*slice)), (6, vec![vec![3, 4, 5, 6], vec![7, 8]]));
    assert_eq!(pass(&*slice.slice(1, 2)), [[4]]);
    let empty = loader.slice(4, 4);
    assert_eq!((empty.num_items(), empty.iter().count()), (0, 0));
    assert!(empty.iter().progress().is_completed());
    let error = loader.slice(5, 11).iter().next().unwrap().unwrap_err();
    let cause = error.source().unwrap().downcast_ref::<dataline::Error>().unwrap();
    assert_eq!(cause.code(), Code::OutOfRange, "{error}");

    let shuffled = loader_of(numbers(10), &[("batch_size", "4"), ("shuffle", "full")]);
    let mut part = pass(&*shuffled.slice(2, 8)).concat();
    part.sort_unstable();
    assert_eq!(part, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn batches_go_to_the_device_that_was_asked_for() {
    let collate = |batch: &Batch, device: &Device| Ok((batch.len(), device.clone()));
    let loader = BurnLoader::new(numbers(11), options(&[("batch_size", "5")]), collate).unwrap();
    let device = Device::flex();
    assert!(pass(&*loader.to_device(&device)).iter().all(|(_, on)| *on == device));
    let loader: Arc<dyn DataLoader<(usize, Device)>> = Arc::new(loader);
    let parts = split_dataloader(loader, &[device.clone(), device]);
    let rows: Vec<usize> =
        parts.iter().map(|part| pass(&**part).iter().map(|(rows, _)| rows).sum()).collect();
    assert_eq!(rows, [5, 6]);
}

#[test]
fn wrong_options_are_told_before_the_training() {
    let error = BurnLoader::new(numbers(4), options(&[("batch_sise", "2")]), indices).unwrap_err();
    assert_eq!(error.code(), Code::UnknownOption);
    let error = BurnLoader::new(numbers(4), options(&[("transform", "nosuch")]), indices).unwrap_err();
    assert_eq!(error.code(), Code::BadTransform);
}

/// Record 2 is bad.
struct Torn;

impl Source for Torn {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", Of::I64, &[])]
    }

    fn len(&self) -> usize {
        6
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> std::result::Result<(), SourceError> {
        match index {
            2 => Err("the tape tore".into()),
            _ => record.put(0, &[index as i64]),
        }
    }
}

#[test]
fn a_bad_sample_is_one_error_and_the_others_are_delivered() {
    let source = Dataset::from_source(Torn, &Options::new()).unwrap();
    let loader = loader_of(source, &[("batch_size", "3"), ("num_workers", "1")]);
    let items: Vec<_> = loader.iter().collect();
    let error = items[0].as_ref().unwrap_err();
    assert!(error.to_string().contains("the tape tore"), "{error}");
    let cause = error.source().unwrap().downcast_ref::<dataline::Error>().unwrap();
    assert_eq!((cause.code(), cause.sample_index()), (Code::BadSample, Some(2)));
    let good: Vec<_> = items.into_iter().skip(1).map(|item| item.unwrap()).collect();
    assert_eq!(good, [vec![0, 1], vec![3, 4, 5]]);
}

#[test]
fn what_collate_refuses_is_the_item_and_the_pass_goes_on() {
    let collate = |batch: &Batch, _: &Device| match batch.info().step {
        1 => Err(dataline::Error::new(Code::Unsupported, "not this one")),
        step => Ok(step),
    };
    let loader = BurnLoader::new(numbers(6), options(&[("batch_size", "2")]), collate).unwrap();
    let items: Vec<_> = loader.iter().map(|item| item.map_err(|error| error.to_string())).collect();
    assert_eq!(items, [Ok(0), Err("not this one".to_owned()), Ok(2)]);
}

fn first(arrays: &[Array<'_>]) -> (Loader<'static>, Batch) {
    let dataset = Dataset::from_arrays(arrays, &Options::new()).unwrap();
    let loader = Loader::new(&dataset, &Options::new()).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    (loader, batch)
}

#[test]
fn a_tensor_sees_the_batch_and_holds_it() {
    let device = Device::flex();
    let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let (loader, batch) = first(&[Array::dense("x", &[3, 2, 4], &values).unwrap()]);
    let address = batch.tensor("x").unwrap().as_ptr() as usize;
    let data = batch.tensor_data("x").unwrap();
    assert_eq!(data.as_bytes().as_ptr() as usize, address, "no copy");
    let tensor: Tensor<3> = batch.burn("x", &device).unwrap();
    drop((data, batch));
    assert_eq!(loader.stats().unwrap().leases_held, 1);
    assert_eq!(tensor.clone().into_data().try_to_vec::<f32>().unwrap(), values);
    let doubled = tensor * 2.0; // written in place, had the tensor owned its memory
    assert_eq!(doubled.into_data().try_to_vec::<f32>().unwrap()[23], 46.0);
    assert_eq!(loader.stats().unwrap().leases_held, 0, "given back with the last tensor over it");
}

#[test]
fn what_writes_to_a_tensor_does_not_write_to_the_batch() {
    let (_loader, batch) = first(&[Array::dense("x", &[4], &[1f32, 2.0, 3.0, 4.0]).unwrap()]);
    let tensor: Tensor<1> = batch.burn("x", &Device::flex()).unwrap();
    assert_eq!(tensor.add_scalar(10.0).into_data().try_to_vec::<f32>().unwrap(), [11.0, 12.0, 13.0, 14.0]);
    let mut data = batch.tensor_data("x").unwrap();
    data.as_mut_slice::<f32>().unwrap()[0] = 99.0;
    assert_eq!(batch.view::<f32>("x").unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn dtypes_are_kept_or_become_the_default_of_the_kind() {
    let device = Device::flex();
    let (_loader, batch) = first(&[
        Array::dense("u8", &[2], &[1u8, 200]).unwrap(),
        Array::dense("i64", &[2], &[-1i64, 5]).unwrap(),
        Array::dense("f64", &[2], &[0.5f64, -0.5]).unwrap(),
        Array::dense("c64", &[2], &[[1f32, 2.0]; 2]).unwrap(),
    ]);
    let pixels: Tensor<1, Int> = batch.burn_int("u8", &device).unwrap();
    assert_eq!((pixels.dtype(), pixels.into_data().try_to_vec::<u8>().unwrap()), (DType::U8, vec![1, 200]));
    let labels: Tensor<1, Int> = batch.burn_int("i64", &device).unwrap();
    assert_eq!((labels.dtype(), labels.into_data().try_to_vec::<i64>().unwrap()), (DType::I64, vec![-1, 5]));
    let doubles: Tensor<1> = batch.burn("f64", &device).unwrap();
    assert_eq!(doubles.dtype(), DType::F64);
    let floats: Tensor<1> = batch.burn("u8", &device).unwrap();
    assert_eq!(floats.into_data().try_to_vec::<f32>().unwrap(), [1.0, 200.0]);
    assert_eq!(batch.tensor_data("c64").unwrap_err().code(), Code::Unsupported);
    assert_eq!(batch.burn::<2>("f64", &device).unwrap_err().message(), "field 'f64': rank is 1, expected 2");
    assert_eq!(batch.burn::<1>("nosuch", &device).unwrap_err().code(), Code::NoSuchField);
}

#[test]
fn overlapping_windows_are_joined() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("windows.bin");
    std::fs::write(&path, (0..9u16).flat_map(u16::to_ne_bytes).collect::<Vec<u8>>()).unwrap();
    let uri = format!("tokens:{}?length=4&dtype=u16&views=true", path.display());
    let dataset = Dataset::open(&uri, &Options::new()).unwrap();
    let batch = Loader::new(&dataset, &Options::new()).unwrap().epoch().next().unwrap().unwrap();
    let y: Tensor<2, Int> = batch.burn_int("y", &Device::flex()).unwrap();
    assert_eq!(y.into_data().try_to_vec::<u16>().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}
