//! Where an epoch is, as the shell draws it, on standard error if that is a terminal; nothing elsewhere:
//!
//! ```text
//! epoch 2/5, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]
//! ```
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Error, Loader};
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const REDRAW: Duration = Duration::from_millis(100);
/// Cells of the bar.
const LEAST_BAR: usize = 4;
const MOST_BAR: usize = 40;

/// The width of the terminal that standard error is; nothing if it is none. `stty` asks for it, so that the example needs
/// neither unsafe code nor a package.
fn terminal_columns() -> Option<usize> {
    if std::env::var_os("TERM").map_or(false, |name| name == "dumb") {
        return None;
    }
    let input = File::open("/dev/stderr").ok()?;
    let output = Command::new("stty").arg("size").stdin(input).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let columns = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(if columns > 1 { columns } else { 80 })
}

/// The line ends where the object does, also where an error ends the epoch.
pub struct Progress<'a> {
    loader: &'a Loader<'a>,
    columns: Option<usize>,
    label: String,
    remark: String,
    before: (i64, Duration), // samples, time waited
    began: Instant,
    drawn: Option<Instant>,
    step: usize,
}

impl<'a> Progress<'a> {
    pub fn new(loader: &'a Loader<'a>, label: String) -> Result<Progress<'a>, Error> {
        let stats = loader.stats()?;
        let (columns, before) = (terminal_columns(), (stats.samples, stats.wait));
        let (remark, began) = (String::new(), Instant::now());
        Ok(Progress { loader, columns, label, remark, before, began, drawn: None, step: 0 })
    }

    pub fn is_drawn(&self) -> bool {
        self.columns.is_some()
    }

    /// Counts a step and draws at most ten times a second. The remark stands at the end.
    pub fn update(&mut self, remark: String) {
        self.step += 1;
        self.remark = remark;
        if self.columns.is_some() && self.drawn.map_or(true, |time| time.elapsed() >= REDRAW) {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.drawn = Some(Instant::now());
        let (columns, stats) = match (self.columns, self.loader.stats()) {
            (Some(columns), Ok(stats)) => (columns, stats),
            _ => return, // the loop meets the error too
        };
        let (steps, elapsed) = (self.loader.steps().unwrap_or(0), self.began.elapsed().as_secs_f64());
        let left = elapsed * steps.saturating_sub(self.step) as f64 / self.step as f64;
        let rate = (stats.samples - self.before.0) as f64 / elapsed;
        let waited = (stats.wait - self.before.1).as_secs_f64() * 100.0 / elapsed;
        let items = [
            format!("{}<{}", clock(elapsed), clock(left)),
            format!("{} samples/s", scaled(rate)),
            format!("waited {waited:.1} %"),
            self.remark.clone(),
        ];
        // The last column stays free: some terminals go to the next line when it is written.
        eprint!("\r\x1b[K{}", line(&self.label, self.step, steps, &items, columns - 1));
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.columns.is_some() && self.step > 0 {
            self.draw();
            eprintln!();
        }
    }
}

/// At most so many columns wide: on a narrow terminal the bar goes first, then what stands last.
fn line(label: &str, step: usize, steps: usize, items: &[String], columns: usize) -> String {
    let done = (step as f64 / steps.max(1) as f64).min(1.0);
    let head = format!("{label}, step {step} of {steps}: {:3}%", (100.0 * done) as usize);
    let tail =
        |shown: usize| if shown > 0 { format!(" [{}]", items[..shown].join(", ")) } else { String::new() };
    let fitting = (1..=items.len()).rev().find(|&shown| head.len() + tail(shown).len() <= columns);
    let shown = fitting.unwrap_or(0);
    let cells = columns.saturating_sub(head.len() + tail(shown).len() + 2).min(MOST_BAR);
    if shown == items.len() && cells >= LEAST_BAR {
        return format!("{head}|{}|{}", bar(done, cells), tail(shown));
    }
    (head + &tail(shown)).chars().take(columns).collect()
}

/// So many characters, of which the last filled one is filled by eighths.
fn bar(done: f64, cells: usize) -> String {
    let eighths = (done * cells as f64 * 8.0) as usize;
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{:<cells$}", "█".repeat(eighths / 8) + part)
}

/// Hours only when there are some.
fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let hours = if whole >= 3600 { format!("{}:", whole / 3600) } else { String::new() };
    format!("{hours}{:02}:{:02}", whole / 60 % 60, whole % 60)
}

/// 834, 12.3 k or 6.91 M.
fn scaled(value: f64) -> String {
    let thousands = (0..3).take_while(|&unit| value / 1000_f64.powi(unit) >= 999.5).count();
    let value = value / 1000_f64.powi(thousands as i32);
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{}", ["", " k", " M", " G"][thousands])
}

#[cfg(test)]
mod tests {
    use super::{clock, line, scaled};

    fn figures() -> [String; 4] {
        ["00:01<00:02", "23.4 k samples/s", "waited 0.3 %", "loss=0.213"].map(String::from)
    }

    #[test]
    fn a_line_says_where_how_fast_and_how_much_waiting() {
        let wanted = "epoch 2/5, step 211 of 469:  44%|████████████▌               | \
                      [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]";
        assert_eq!(line("epoch 2/5", 211, 469, &figures(), 120), wanted);
    }

    #[test]
    fn a_narrow_terminal_loses_the_bar_then_the_last_figures() {
        let head = "epoch 2/5, step 211 of 469:  44%";
        let cases = [
            (92, " [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]"),
            (80, " [00:01<00:02, 23.4 k samples/s, waited 0.3 %]"),
            (64, " [00:01<00:02, 23.4 k samples/s]"),
            (40, ""),
        ];
        for (columns, tail) in cases {
            assert_eq!(
                line("epoch 2/5", 211, 469, &figures(), columns),
                format!("{head}{tail}"),
                "{columns}"
            );
        }
        assert_eq!(line("epoch 2/5", 211, 469, &figures(), 9), "epoch 2/5");
        for (columns, step) in (0..200).flat_map(|columns| [0, 1, 468, 469, 500].map(|step| (columns, step)))
        {
            assert!(
                line("epoch 2/5", step, 469, &figures(), columns).chars().count() <= columns,
                "{columns}"
            );
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, wanted) in
            [(0.0, "0.00"), (12.34, "12.3"), (999.6, "1.00 k"), (23_400.0, "23.4 k"), (6.91e6, "6.91 M")]
        {
            assert_eq!(scaled(value), wanted);
        }
        assert_eq!(clock(3725.0), "1:02:05");
    }
}
