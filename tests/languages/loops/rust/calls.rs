//! The simple calls of a loader by their names.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Loader, Result};

pub fn call(loader: &Loader<'_>, name: &str, numbers: &[i64]) -> Result<()> {
    match (name, numbers) {
        ("set_workers", &[count]) => loader.set_workers(count),
        _ => panic!("no call {name} {numbers:?}"),
    }
}

pub fn get(loader: &Loader<'_>, name: &str) -> Result<String> {
    Ok(match name {
        "stats.num_workers" => loader.stats()?.num_workers.to_string(),
        "stats.batches" => loader.stats()?.batches.to_string(),
        "stats.samples" => loader.stats()?.samples.to_string(),
        "stats.bytes" => loader.stats()?.bytes.to_string(),
        "stats.skipped" => loader.stats()?.skipped.to_string(),
        "stats.dropped" => loader.stats()?.dropped.to_string(),
        "stats.padded" => loader.stats()?.padded.to_string(),
        "stats.replaced" => loader.stats()?.replaced.to_string(),
        "stats.bad" => loader.stats()?.bad.to_string(),
        "stats.wait_ns" => loader.stats()?.wait.as_nanos().to_string(),
        "stats.waits" => loader.stats()?.waits.to_string(),
        "stats.worker_cpu_ns" => loader.stats()?.worker_cpu.as_nanos().to_string(),
        "stats.arena_bytes" => loader.stats()?.arena_bytes.to_string(),
        "stats.held_bytes" => loader.stats()?.held_bytes.to_string(),
        "stats.budget_bytes" => loader.stats()?.budget_bytes.to_string(),
        "stats.leases_held" => loader.stats()?.leases_held.to_string(),
        "stats.lease_copies" => loader.stats()?.lease_copies.to_string(),
        "stats.ready_batches" => loader.stats()?.ready_batches.to_string(),
        "stats.pinned_bytes" => loader.stats()?.pinned_bytes.to_string(),
        "stats.threads_abandoned" => loader.stats()?.threads_abandoned.to_string(),
        "stats.device_bytes" => loader.stats()?.device_bytes.to_string(),
        "stats.copied_bytes" => loader.stats()?.copied_bytes.to_string(),
        "stats.warned" => loader.stats()?.warned.to_string(),
        "stats.cache_read" => loader.stats()?.cache_read.to_string(),
        "stats.cache_made" => loader.stats()?.cache_made.to_string(),
        "tuned.num_workers" => loader.tuned()?.num_workers.to_string(),
        "tuned.prefetch_depth" => loader.tuned()?.prefetch_depth.to_string(),
        "tuned.most_workers" => loader.tuned()?.most_workers.to_string(),
        "tuned.most_depth" => loader.tuned()?.most_depth.to_string(),
        "tuned.wanted_workers" => loader.tuned()?.wanted_workers.to_string(),
        "tuned.wanted_depth" => loader.tuned()?.wanted_depth.to_string(),
        "tuned.changes" => loader.tuned()?.changes.to_string(),
        "tuned.frozen" => i32::from(loader.tuned()?.frozen).to_string(),
        "tuned.text" => loader.tuned()?.text,
        _ => panic!("no member {name}"),
    })
}
