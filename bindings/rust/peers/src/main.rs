//! 60,000 shuffled rows of 784 u8 in batches of 256, from memory to tensors: Dataline, burn's own loader, candle; each
//! for a quarter of a second in turn, the median of several rounds. `cargo run --release`
//!
//! candle's `Batcher` is in candle-datasets, which brings arrow and parquet and builds in 18 minutes; what it does (a
//! tensor a row, then `Tensor::stack`) is written out here.
//!
//! SPDX-License-Identifier: Apache-2.0
use burn_core::data::dataloader::batcher::Batcher;
use burn_core::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn_core::data::dataset::{Dataset as Rows, DatasetError};
use burn_core::tensor::{DType, Device, Int, Tensor, TensorData};
use dataline::{Array, Dataset, Loader, Options};
use dataline_burn::{BatchExt, BurnLoader};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: usize = 60_000;
const ROW: usize = 784;
const BATCH: usize = 256;
const ROUNDS: usize = 7;
/// Whole epochs until it is over, at least one.
const ROUND: Duration = Duration::from_millis(250);

type Failure = Box<dyn std::error::Error>;

#[derive(Clone, Debug)]
struct Item(Vec<u8>);

/// A row is cloned when it is asked for, as burn's `InMemDataset` does.
struct InMemory(Arc<Vec<u8>>);

impl Rows<Item> for InMemory {
    fn get(&self, index: usize) -> Result<Item, DatasetError> {
        Ok(Item(self.0[index * ROW..(index + 1) * ROW].to_vec()))
    }

    fn len(&self) -> usize {
        ROWS
    }
}

/// The bytes of all rows joined, then one tensor: the fastest batcher there is for burn.
struct Joined;

impl Batcher<Item, Tensor<2, Int>> for Joined {
    fn batch(&self, items: Vec<Item>, device: &Device) -> Tensor<2, Int> {
        let mut bytes = Vec::with_capacity(items.len() * ROW);
        items.iter().for_each(|item| bytes.extend_from_slice(&item.0));
        Tensor::from_data(TensorData::new(bytes, [items.len(), ROW]), (device, DType::U8))
    }
}

/// A normalised tensor a row, then `cat`, as in burn's guide.
struct Guide;

impl Batcher<Item, Tensor<2>> for Guide {
    fn batch(&self, items: Vec<Item>, device: &Device) -> Tensor<2> {
        let rows = items.iter().map(|item| {
            let pixels: Vec<f32> = item.0.iter().map(|&pixel| f32::from(pixel)).collect();
            let row = Tensor::<1>::from_data(TensorData::new(pixels, [ROW]), device);
            ((row.reshape([1, ROW]) / 255.0) - 0.1307) / 0.3081
        });
        Tensor::cat(rows.collect(), 0)
    }
}

fn of_burn<B, O>(rows: &Arc<Vec<u8>>, batcher: B, workers: usize) -> Arc<dyn DataLoader<O>>
where
    B: Batcher<Item, O> + 'static,
    O: Send + Clone + std::fmt::Debug + 'static,
{
    let builder = DataLoaderBuilder::new(batcher).batch_size(BATCH).shuffle(1).num_workers(workers);
    builder.build(InMemory(rows.clone()))
}

fn options(transform: &str) -> Options {
    Options::new().set("batch_size", BATCH).set("shuffle", "full").set("seed", 1).set("transform", transform)
}

fn dataset(rows: &Arc<Vec<u8>>) -> dataline::Result<Dataset<'static>> {
    Dataset::lend_arrays(
        rows.clone(),
        |rows| Ok(vec![Array::dense("image", &[ROWS, ROW], rows)?.with_axes("W")?]),
        &Options::new(),
    )
}

/// A pass over all rows; how many there were.
type Pass = Box<dyn FnMut() -> Result<usize, Failure>>;

fn pass_of<O: Send + 'static>(loader: Arc<dyn DataLoader<O>>, rows: fn(&O) -> usize) -> Pass {
    Box::new(move || {
        let mut count = 0;
        for batch in loader.iter() {
            count += rows(black_box(&batch?));
        }
        Ok(count)
    })
}

fn views(loader: Loader<'static>) -> Pass {
    Box::new(move || {
        let mut count = 0;
        for batch in &loader {
            count += black_box(batch?.view::<u8>("image")?).len() / ROW;
        }
        Ok(count)
    })
}

/// Orders for those who have no shuffle of their own: a step that has no divisor in common with the count.
fn orders() -> impl FnMut() -> Vec<u32> {
    let mut epoch = 0u64;
    move || {
        epoch += 1;
        let step = [7_919u64, 104_729, 1_299_709][epoch as usize % 3];
        (0..ROWS as u64).map(|slot| ((slot * step + epoch * 31) % ROWS as u64) as u32).collect()
    }
}

fn candle_stack(rows: Arc<Vec<u8>>) -> Pass {
    use candle_core::{Device, Tensor};
    let mut order = orders();
    Box::new(move || {
        let mut count = 0;
        for indices in order().chunks(BATCH) {
            let row = |&index: &u32| {
                let at = index as usize * ROW;
                Tensor::from_slice(&rows[at..at + ROW], ROW, &Device::Cpu)
            };
            let rows = indices.iter().map(row).collect::<candle_core::Result<Vec<_>>>()?;
            count += black_box(Tensor::stack(&rows, 0)?).dims()[0];
        }
        Ok(count)
    })
}

fn candle_index_select(rows: &[u8]) -> Result<Pass, Failure> {
    use candle_core::{Device, Tensor};
    let all = Tensor::from_slice(rows, (ROWS, ROW), &Device::Cpu)?;
    let mut order = orders();
    Ok(Box::new(move || {
        let mut count = 0;
        for indices in order().chunks(BATCH) {
            let indices = Tensor::from_slice(indices, indices.len(), &Device::Cpu)?;
            count += black_box(all.index_select(&indices, 0)?).dims()[0];
        }
        Ok(count)
    }))
}

fn main() -> Result<(), Failure> {
    let rows: Arc<Vec<u8>> = Arc::new((0..ROWS * ROW).map(|i| (i * 31 % 251) as u8).collect());
    let bytes = |batch: &Tensor<2, Int>| batch.dims()[0];
    let floats = |batch: &Tensor<2>| batch.dims()[0];
    let u8_tensors =
        BurnLoader::new(dataset(&rows)?, options(""), |batch, device| batch.burn_int::<2>("image", device))?;
    let f32_tensors = BurnLoader::new(dataset(&rows)?, options("normalize(mnist)"), |batch, device| {
        batch.burn::<2>("image", device)
    })?;
    let mut contenders: Vec<(&str, Pass, Vec<f64>)> = vec![
        ("u8   Dataline, views", views(Loader::new(&dataset(&rows)?, &options(""))?), vec![]),
        ("u8   Dataline, burn tensors", pass_of(Arc::new(u8_tensors), bytes), vec![]),
        ("u8   burn DataLoader, bytes joined, 0 workers", pass_of(of_burn(&rows, Joined, 0), bytes), vec![]),
        ("u8   burn DataLoader, bytes joined, 2 workers", pass_of(of_burn(&rows, Joined, 2), bytes), vec![]),
        ("u8   candle, a tensor a row, stack", candle_stack(rows.clone()), vec![]),
        ("u8   candle, index_select (a bare loop)", candle_index_select(&rows)?, vec![]),
        ("f32  Dataline, burn tensors", pass_of(Arc::new(f32_tensors), floats), vec![]),
        (
            "f32  burn DataLoader, the guide's batcher, 0 workers",
            pass_of(of_burn(&rows, Guide, 0), floats),
            vec![],
        ),
        (
            "f32  burn DataLoader, the guide's batcher, 2 workers",
            pass_of(of_burn(&rows, Guide, 2), floats),
            vec![],
        ),
    ];
    for round in 0..=ROUNDS {
        for (name, pass, speeds) in &mut contenders {
            let began = Instant::now();
            let mut count = 0;
            while began.elapsed() < ROUND {
                assert_eq!(pass()?, ROWS, "{name}");
                count += ROWS;
            }
            if round > 0 {
                speeds.push(count as f64 / began.elapsed().as_secs_f64() / 1e6);
                // the first round warms up
            }
        }
    }
    for (name, _, speeds) in &mut contenders {
        speeds.sort_by(f64::total_cmp);
        let (least, median, most) = (speeds[0], speeds[speeds.len() / 2], speeds[speeds.len() - 1]);
        println!("{name:<54} {median:6.2} M rows/s  ({least:.2} to {most:.2})");
    }
    Ok(())
}
