//! Trains a small network on MNIST digits: `train-mnist DIR [EPOCHS]`, with the four files in DIR, `.gz` or not.
//!
//! SPDX-License-Identifier: Apache-2.0
#![forbid(unsafe_code)]

mod digest;
mod mlp;
mod progress;

use dataline::{Dataset, Loader, Options};
use digest::Digest;
use mlp::Mlp;
use progress::Progress;
use std::error::Error;
use std::time::Instant;

const BATCH: usize = 128;
const HIDDEN: usize = 128;

/// u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
const TRANSFORM: &str = "image: normalize(mnist), flatten";

/// In a URI these characters of a path are written by their number.
fn uri(directory: &str, split: &str) -> String {
    let mut path = String::new();
    for letter in directory.chars() {
        match letter {
            '%' | ',' | '?' | '&' | '=' => path += &format!("%{:02X}", letter as u32),
            other => path.push(other),
        }
    }
    format!("mnist:{path}?split={split}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: train-mnist DIR [EPOCHS]")?;
    let epochs: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;

    let common = || Options::new().set("batch_size", BATCH).set("transform", TRANSFORM);
    let options = common().set("shuffle", "full").set("seed", 1).set("epochs", epochs);
    let train = Loader::new(&Dataset::open(&uri(&directory, "train"), &options)?, &options)?;
    let options = common().set("epochs", 1);
    let test = Loader::new(&Dataset::open(&uri(&directory, "test"), &options)?, &options)?;

    let mut model = Mlp::new(784, HIDDEN, 10);
    let mut digest = Digest::new();
    let steps = train.steps().ok_or("the number of steps is not known")? * epochs;
    let began = Instant::now();
    let (mut step, mut samples) = (0, 0);
    for epoch in 0..epochs {
        let mut loss = 0.0;
        let mut seen = 0;
        let mut shown = Progress::new(&train, format!("epoch {}/{epochs}", epoch + 1))?;
        for batch in &train {
            let batch = batch?;
            let (images, labels) = (batch.view::<f32>("image")?, batch.view::<i64>("label")?);
            if epoch == 0 {
                for field in batch.tensors() {
                    digest.add(field.bytes()?);
                }
            }
            let rate = 0.1 * (1.0 - step as f32 / steps as f32);
            loss += model.train(images, labels, rate, 0.9);
            seen += labels.len();
            step += 1;
            shown.update(format!("loss={:.3}", loss / seen as f64));
        }
        samples += seen;
        if !shown.is_drawn() {
            println!("epoch {}: loss {:.4}", epoch + 1, loss / seen as f64);
        }
    }
    let seconds = began.elapsed().as_secs_f64();

    let (mut correct, mut count) = (0, 0);
    for batch in &test {
        let batch = batch?;
        let labels = batch.view::<i64>("label")?;
        correct += model.correct(batch.view::<f32>("image")?, labels);
        count += labels.len();
    }
    println!("first epoch digest: {digest}");
    println!("test accuracy: {:.2} %", 100.0 * correct as f64 / count as f64);
    println!("waited for data: {:.1} %", train.stats()?.wait.as_secs_f64() * 100.0 / seconds);
    println!("training speed: {:.0} samples/s", samples as f64 / seconds);
    Ok(())
}
