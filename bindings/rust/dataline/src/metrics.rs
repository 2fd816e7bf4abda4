//! The measurements of a loader.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Error, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;
use std::time::Duration;

/// How the value of a [`Metric`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// The current value.
    Gauge,
    /// How often and how long.
    Duration,
}

/// The thread of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricThread {
    /// All threads together.
    All,
    /// The threads that call [`Loader::next`](crate::Loader::next).
    Consumer,
    /// A worker, from 0.
    Worker(u32),
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// How its value changes.
    pub kind: MetricKind,
    /// A member of `dl_stats` of `dataline.h`, or for durations `next`, `between`, `work`, `wait`, `off_cpu`,
    /// `device`.
    pub name: String,
    /// The part of a divided metric: a stage (`read`, `image: decode`), or why a worker waits (`no room`).
    /// Otherwise empty.
    pub part: String,
    /// `ns`, `bytes`, `samples`, ...
    pub unit: String,
    /// A description of one sentence.
    pub doc: String,
    /// The thread.
    pub thread: MetricThread,
    /// The value. For a duration: the sum.
    pub value: i64,
    /// For a duration: how often. If only some calls are timed, an estimate, like `value`.
    pub count: i64,
    /// For a stage: the bytes it read or wrote.
    pub bytes: i64,
    /// For a duration: half of the times were at most this long, rounded up by at most an eighth.
    pub p50: Duration,
    /// For a duration: all but a hundredth of the times were at most this long.
    pub p99: Duration,
    /// For a duration: the longest time.
    pub max: Duration,
}

/// A table that outlives its loader and then returns the final numbers. Several threads may read it, also
/// while the loader is dropped. In a forked child its calls fail with [`Code::Forked`].
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
/// // One client at a time, for your own Prometheus. If others can connect, use an HTTP library.
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

    pub(crate) fn raw(&self) -> *mut sys::dl_metrics {
        self.handle
    }

    /// The current rows.
    ///
    /// # Errors
    /// [`Code::Forked`].
    pub fn rows(&self) -> Result<Vec<Metric>> {
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_metrics_count(self.handle) }).map(|index| self.row(index)).collect()
    }

    fn row(&self, index: i64) -> Result<Metric> {
        let mut row = sys::dl_metric { struct_size: ffi::size::<sys::dl_metric>(), ..Default::default() };
        // SAFETY: a live handle; `row` states its size.
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

    /// The table in Prometheus's text format 0.0.4, with `labels` added to each series. A label value may be
    /// any text.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] for a label name that Prometheus does not accept, or that the table already
    /// uses; [`Code::Forked`].
    pub fn text(&self, labels: &[(&str, &str)]) -> Result<String> {
        let labels = ffi::c_text("labels", &joined(labels)?)?;
        let mut bytes = 0;
        // SAFETY: a live handle; without space only the length is requested.
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
