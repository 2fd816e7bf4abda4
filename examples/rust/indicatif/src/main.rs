//! Shows by indicatif where a loop is, as the shell does: `progress URI [EPOCHS]`.
//!
//! ```text
//! epoch 0, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %]
//! ```
//!
//! On standard error if that is a terminal; elsewhere nothing is drawn.
//!
//! SPDX-License-Identifier: Apache-2.0
#![forbid(unsafe_code)]

use dataline::{Batch, Dataset, Loader, Options};
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use std::error::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Between figures; indicatif draws by itself at most twenty times a second.
const INTERVAL: Duration = Duration::from_millis(100);

/// Hours only when there are some.
fn clock(time: Duration, out: &mut dyn Write) {
    let whole = time.as_secs();
    let hours = if whole >= 3600 { format!("{}:", whole / 3600) } else { String::new() };
    let _ = write!(out, "{hours}{:02}:{:02}", whole / 60 % 60, whole % 60);
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template(
        "{prefix}, step {pos} of {len}: {percent:>3}%|{wide_bar}| [{spent}<{left}, {msg}]",
    )
    .expect("the template is right")
    .progress_chars("█▉▊▋▌▍▎▏ ")
    .with_key("spent", |state: &ProgressState, out: &mut dyn Write| clock(state.elapsed(), out))
    .with_key("left", |state: &ProgressState, out: &mut dyn Write| clock(state.eta(), out))
}

/// One epoch. What is drawn stays as it was where an error ends it.
fn epoch(
    loader: &Loader,
    bar: &ProgressBar,
    mut step: impl FnMut(&Batch) -> Result<(), Box<dyn Error>>,
) -> Result<u64, Box<dyn Error>> {
    let before = loader.stats()?;
    let began = Instant::now();
    let mut due = began;
    let mut samples = 0;
    bar.set_style(style());
    bar.set_length(loader.steps().unwrap_or(0) as u64);
    bar.set_position(0);
    bar.reset_eta();
    bar.reset_elapsed();
    for batch in loader {
        let batch = batch?;
        step(&batch)?;
        samples += batch.len() as u64;
        bar.inc(1);
        if Instant::now() >= due {
            due = Instant::now() + INTERVAL;
            let seconds = began.elapsed().as_secs_f64();
            let waited = (loader.stats()?.wait - before.wait).as_secs_f64();
            let rate = HumanCount((samples as f64 / seconds) as u64);
            bar.set_prefix(format!("epoch {}", loader.position()?.epoch));
            bar.set_message(format!("{rate} samples/s, waited {:.1} %", 100.0 * waited / seconds));
        }
    }
    bar.abandon(); // stays on the terminal as it is
    Ok(samples)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let uri = arguments.next().ok_or("usage: progress URI [EPOCHS]")?;
    let epochs: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let options = Options::new().set("batch_size", 64).set("shuffle", "full").set("epochs", epochs);
    let loader = Loader::new(&Dataset::open(&uri, &options)?, &options)?;
    let mut samples = 0;
    for _ in 0..epochs {
        let bar = ProgressBar::new(0);
        samples += epoch(&loader, &bar, |_| Ok(()))?;
    }
    println!("{samples} samples");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{InMemoryTerm, ProgressDrawTarget};

    const SAMPLES: usize = 1000;

    /// The file lives as long as the folder of the tests.
    fn loader(name: &str) -> Loader<'static> {
        let file = std::env::temp_dir().join(format!("dataline-progress-{}-{name}", std::process::id()));
        std::fs::write(&file, vec![7; SAMPLES * 4]).unwrap();
        let options = Options::new().set("batch_size", 10).set("epochs", 2).set("num_workers", 1);
        let uri = format!("raw:{}?dtype=u8&shape=4", file.display());
        let loader = Loader::new(&Dataset::open(&uri, &options).unwrap(), &options).unwrap();
        std::fs::remove_file(file).unwrap(); // open files stay
        loader
    }

    fn bar_on(terminal: &InMemoryTerm) -> ProgressBar {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like(Box::new(terminal.clone())))
    }

    #[test]
    fn an_epoch_shows_position_rate_waiting_and_time() {
        let terminal = InMemoryTerm::new(4, 120);
        let loader = loader("whole");
        for number in 0..2 {
            assert_eq!(epoch(&loader, &bar_on(&terminal), |_| Ok(())).unwrap(), SAMPLES as u64);
            let seen = terminal.contents();
            let line = seen.lines().last().unwrap();
            assert!(line.starts_with(&format!("epoch {number}, step 100 of 100: 100%|█")), "{seen}");
            assert!(line.contains("| [00:00<00:00, "), "{seen}");
            assert!(line.contains(" samples/s, waited "), "{seen}");
            assert!(line.ends_with(" %]"), "{seen}");
        }
    }

    #[test]
    fn an_error_of_the_step_leaves_the_line_where_it_was() {
        let terminal = InMemoryTerm::new(4, 120);
        let mut steps = 0;
        let failed = epoch(&loader("error"), &bar_on(&terminal), |_| {
            steps += 1;
            if steps == 30 {
                return Err("the model diverged".into());
            }
            Ok(())
        });
        assert_eq!(failed.unwrap_err().to_string(), "the model diverged");
        assert!(!terminal.contents().contains("100%"), "{}", terminal.contents());
    }
}
