//! What a loader measures, and traces.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers};
use dataline::{Code, Loader, Metric, MetricKind, MetricThread, Metrics, Tune};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

fn measured() -> Loader<'static> {
    let options = [("batch_size", "10"), ("num_workers", "1"), ("stats", "full")];
    loader_of(&numbers(1000), &options).unwrap()
}

fn row(metrics: &Metrics, name: &str, part: &str) -> Metric {
    let all = metrics.rows().unwrap();
    all.into_iter()
        .find(|row| row.name == name && row.part == part && row.thread == MetricThread::All)
        .unwrap()
}

#[test]
fn rows_outlive_the_loader_and_tell_its_last_numbers() {
    let loader = measured();
    let metrics = loader.metrics().unwrap();
    assert_eq!(row(&metrics, "batches", "").value, 0);
    assert_eq!(epoch_of(&loader).len(), 100);
    drop(loader);
    let batches = row(&metrics, "batches", "");
    assert_eq!((batches.value, batches.kind, batches.unit.as_str()), (100, MetricKind::Counter, "batches"));
    assert_eq!(row(&metrics, "arena_bytes", "").kind, MetricKind::Gauge);
    let work = row(&metrics, "work", "x: copy");
    assert!(work.value > 0 && work.kind == MetricKind::Duration && !work.doc.is_empty());
    let rows = metrics.rows().unwrap();
    for thread in [MetricThread::Consumer, MetricThread::Worker(0)] {
        assert!(rows.iter().any(|row| row.name == "work" && row.thread == thread));
    }
    assert!(metrics.stalls().unwrap().len() <= 64);
}

#[test]
fn labels_may_be_any_text_and_names_are_checked() {
    let metrics = measured().metrics().unwrap();
    let text = metrics.text(&[("job", "a \"b\" \\ \n c"), ("rank", "3")]).unwrap();
    assert!(text.contains("dataline_batches_total{job=\"a \\\"b\\\" \\\\ \\n c\",rank=\"3\"} 0\n"), "{text}");
    for name in ["", "a b", "a=\"x\",b", "stage"] {
        assert_eq!(metrics.text(&[(name, "x")]).unwrap_err().code(), Code::InvalidArgument, "{name}");
    }
}

#[test]
fn four_threads_read_while_loaders_are_dropped() {
    for _ in 0..10 {
        let loader = measured();
        let (metrics, over) = (Arc::new(loader.metrics().unwrap()), Arc::new(AtomicBool::new(false)));
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (metrics, over) = (Arc::clone(&metrics), Arc::clone(&over));
                std::thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        assert!(metrics.text(&[]).unwrap().contains("\ndataline_batches_total "));
                        assert!(!metrics.rows().unwrap().is_empty());
                    }
                })
            })
            .collect();
        assert_eq!(epoch_of(&loader).len(), 100);
        drop(loader);
        over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        assert_eq!(row(&metrics, "batches", "").value, 100);
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(text)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_whole(trace: &[u8]) -> bool {
    trace.starts_with(b"{\"displayTimeUnit\"") && trace.ends_with(b"]}\n")
}

#[test]
fn a_trace_goes_to_a_file_or_a_writer() {
    let kept = Kept::default();
    let path = std::env::temp_dir().join(format!("dataline-trace-{}.json", std::process::id()));
    let loader = measured();
    loader.trace_to(kept.clone()).unwrap();
    assert_eq!(loader.trace_start("second.json").unwrap_err().code(), Code::WrongState);
    epoch_of(&loader);
    loader.trace_stop().unwrap();
    assert!(is_whole(&kept.0.lock().unwrap()));
    loader.trace_start(&path).unwrap();
    epoch_of(&loader);
    drop(loader);
    assert!(is_whole(&std::fs::read(&path).unwrap()));
    std::fs::remove_file(&path).unwrap();
    let dropped = Kept::default();
    let loader = measured();
    loader.trace_to(dropped.clone()).unwrap();
    epoch_of(&loader);
    drop(loader);
    assert!(is_whole(&dropped.0.lock().unwrap()));
    assert_eq!(Arc::strong_count(&dropped.0), 1);
}

struct Refusing(Option<i32>);

impl Write for Refusing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(self.0.expect("a panic on purpose")))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_ends_the_trace_and_not_the_job() {
    let loader = measured();
    let full = loader.trace_to(Refusing(Some(28))).unwrap_err();
    assert_eq!(full.code(), Code::Io);
    assert_eq!(full.failure().unwrap().os_error.as_ref().unwrap().raw_os_error(), Some(28));
    assert_eq!(loader.trace_to(Refusing(None)).unwrap_err().code(), Code::Io);
    assert_eq!(loader.trace_start("/dev/full").unwrap_err().code(), Code::NotAFile);
    assert_eq!(epoch_of(&loader).len(), 100);
    loader.trace_stop().unwrap();
}

#[test]
fn tuned_is_what_the_library_reports() {
    let options = [("batch_size", "10"), ("num_workers", "3"), ("prefetch_depth", "2"), ("tune", "watch")];
    let loader = loader_of(&numbers(1000), &options).unwrap();
    let tuned = loader.tuned().unwrap();
    assert_eq!((tuned.mode, tuned.frozen), (Tune::Watch, false));
    assert_eq!((tuned.num_workers, tuned.most_workers, tuned.prefetch_depth), (3, 3, 2));
    assert_eq!(tuned.text, "measuring 3 workers, depth 2");
    assert_eq!(epoch_of(&loader).len(), 100);
}
