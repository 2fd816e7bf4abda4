//! What a loader measures.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Error, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;
use std::time::Duration;

/// What a [`Metric`]'s value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// It is now.
    Gauge,
    /// How often, how long.
    Duration,
}

/// Whose a [`Metric`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricThread {
    /// All together.
    All,
    /// Whoever calls [`Loader::next`](crate::Loader::next).
    Consumer,
    /// A worker, from 0.
    Worker(u32),
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// What its value does.
    pub kind: MetricKind,
    /// A member of [`Stats`](crate::Stats), or of durations `next`, `between`, `work`, `wait`, `off_cpu`,
    /// `device`.
    pub name: String,
    /// Of what is divided: a stage (`read`, `image: decode`), or why a worker waits (`no room`); else empty.
    pub part: String,
    /// `ns`, `bytes`, `samples`, ...
    pub unit: String,
    /// One sentence.
    pub doc: String,
    /// Whose it is.
    pub thread: MetricThread,
    /// Of a duration the sum.
    pub value: i64,
    /// Of a duration: how often; an estimate where only some are timed, as `value` is.
    pub count: i64,
    /// Of a stage: what it read or made.
    pub bytes: i64,
    /// Of one time: half were at most this long, rounded up by an eighth at most.
    pub p50: Duration,
    /// Of one time: all but a hundredth were at most this long.
    pub p99: Duration,
    /// Of one time: the longest.
    pub max: Duration,
}

/// A call of [`Loader::next`](crate::Loader::next) that took 10 ms or more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// Of the batch that it delivered.
    pub epoch: i64,
    /// Of the batch that it delivered.
    pub step: i64,
    /// How long it took.
    pub wait: Duration,
    /// What the workers spent that time with, as [`Metric::part`]; `leases`: too many batches were held.
    pub cause: String,
}

/// What a loader measures: a table that outlives it, and tells its last numbers then. Several threads may read it, also
/// while the loader is dropped. In a forked child it fails with [`Code::Forked`].
///
/// ```
/// use dataline::{Array, Dataset, Loader, Options};
/// use std::io::{BufRead, BufReader, Read, Write};
/// use std::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::new().set("batch_size", 10).set("stats", "full");
/// let dataset = Dataset::from_arrays(&[Array::dense("x", &[100], &[1u8; 100])?], &options)?;
/// let loader = Loader::new(&dataset, &options)?;
/// let metrics = loader.metrics()?;
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?;
/// // One client at a time, for a Prometheus of your own; where others can connect, use an HTTP library.
/// std::thread::spawn(move || {
///     for stream in listener.incoming().flatten() {
///         let mut request = String::new();
///         let _ = BufReader::new(&stream).read_line(&mut request);
///         let text = metrics.text(&[("rank", "0")]).unwrap_or_default();
///         let _ = write!(
///             &stream,
///             "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n{text}",
///             text.len()
///         );
///     }
/// });
/// for batch in &loader {
///     batch?;
/// }
/// let mut scraped = String::new();
/// let mut stream = TcpStream::connect(address)?;
/// stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
/// stream.read_to_string(&mut scraped)?;
/// assert!(scraped.contains("dataline_batches_total{rank=\"0\"} 10\n"));
/// # Ok(())
/// # }
/// ```
pub struct Metrics {
    handle: *mut sys::dl_metrics,
}

// SAFETY: the library reads under locks of its own; it is destroyed by its only owner.
unsafe impl Send for Metrics {}
// SAFETY: as above.
unsafe impl Sync for Metrics {}

impl Metrics {
    /// # Safety
    /// A live loader.
    pub(crate) unsafe fn of(loader: *const sys::dl_loader) -> Result<Metrics> {
        let mut handle = ptr::null_mut();
        // SAFETY: the caller's promise; `handle` takes the result.
        ffi::hard(|error| unsafe { sys::dl_loader_metrics(loader, &mut handle, error) })?;
        Ok(Metrics { handle })
    }

    /// The rows as they stand now.
    ///
    /// # Errors
    /// [`Code::Forked`].
    pub fn rows(&self) -> Result<Vec<Metric>> {
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_metrics_count(self.handle) }).map(|index| self.row(index)).collect()
    }

    fn row(&self, index: i64) -> Result<Metric> {
        let mut row = sys::dl_metric { struct_size: ffi::size::<sys::dl_metric>(), ..Default::default() };
        // SAFETY: a live handle; `row` says its size.
        ffi::hard(|error| unsafe { sys::dl_metrics_at(self.handle, index, &mut row, error) })?;
        // SAFETY: its texts live as long as the handle.
        let text = |from| unsafe { ffi::text_of(from) };
        Ok(Metric {
            kind: match row.kind {
                sys::DL_METRIC_COUNTER => MetricKind::Counter,
                sys::DL_METRIC_GAUGE => MetricKind::Gauge,
                _ => MetricKind::Duration,
            },
            name: text(row.name),
            part: text(row.part),
            unit: text(row.unit),
            doc: text(row.doc),
            thread: match row.thread {
                sys::DL_THREAD_CONSUMER => MetricThread::Consumer,
                worker => u32::try_from(worker).map_or(MetricThread::All, MetricThread::Worker),
            },
            value: row.value,
            count: row.count,
            bytes: row.bytes,
            p50: time(row.p50_ns),
            p99: time(row.p99_ns),
            max: time(row.max_ns),
        })
    }

    /// The last calls of `next` that took long, at most 64, from the oldest.
    ///
    /// # Errors
    /// [`Error::Internal`](crate::Error::Internal) at most.
    pub fn stalls(&self) -> Result<Vec<Stall>> {
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_metrics_stall_count(self.handle) })
            .map(|index| {
                let mut stall =
                    sys::dl_stall { struct_size: ffi::size::<sys::dl_stall>(), ..Default::default() };
                // SAFETY: a live handle; `stall` says its size.
                ffi::hard(|error| unsafe {
                    sys::dl_metrics_stall_at(self.handle, index, &mut stall, error)
                })?;
                Ok(Stall {
                    epoch: stall.epoch,
                    step: stall.step,
                    wait: time(stall.wait_ns),
                    // SAFETY: it lives as long as the handle.
                    cause: unsafe { ffi::text_of(stall.cause) },
                })
            })
            .collect()
    }

    /// The table in Prometheus's text format 0.0.4. `labels`, whose values may be any text, are added to each series.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] for a name that Prometheus does not take, or that is the table's own; [`Code::Forked`].
    pub fn text(&self, labels: &[(&str, &str)]) -> Result<String> {
        let labels = ffi::c_text("labels", &joined(labels)?)?;
        let mut bytes = 0;
        // SAFETY: a live handle; without room only the length is asked for.
        ffi::hard(|error| unsafe {
            sys::dl_metrics_text(self.handle, labels.as_ptr(), ptr::null_mut(), &mut bytes, error)
        })?;
        loop {
            let mut text = vec![0u8; bytes];
            // SAFETY: a live handle, and room of that size.
            let written = ffi::hard(|error| unsafe {
                sys::dl_metrics_text(
                    self.handle,
                    labels.as_ptr(),
                    text.as_mut_ptr().cast(),
                    &mut bytes,
                    error,
                )
            });
            if written.is_err() && bytes > text.len() {
                continue; // the numbers have grown meanwhile
            }
            written?;
            text.truncate(bytes.saturating_sub(1)); // the NUL
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
    }
}

fn time(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

fn joined(labels: &[(&str, &str)]) -> Result<String> {
    let mut all = Vec::new();
    for (name, value) in labels {
        if name.contains('=') {
            // It could be several.
            return Err(Error::new(Code::InvalidArgument, format!("labels: expected a name, got '{name}'")));
        }
        let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        all.push(format!("{name}=\"{value}\""));
    }
    Ok(all.join(","))
}

impl Drop for Metrics {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { sys::dl_metrics_destroy(self.handle) };
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a live handle.
        let rows = unsafe { sys::dl_metrics_count(self.handle) };
        out.debug_struct("Metrics").field("rows", &rows).finish_non_exhaustive()
    }
}
