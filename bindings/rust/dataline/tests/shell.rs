//! The same job through the program `dataline`: the same bytes, and states that go from one to the other.
//! They need the program (DATALINE_BIN, or on the PATH), so a plain `cargo test` leaves them out; check.sh does not.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{file, shell};
use dataline::{Dataset, Loader, Options};

const JOB: [(&str, &str); 5] =
    [("batch_size", "32"), ("shuffle", "full"), ("seed", "11"), ("last_batch", "pad"), ("epochs", "2")];

/// 1000 records of 16 bytes, no two alike.
fn uri(name: &str) -> String {
    let path = file(name);
    let bytes: Vec<u8> = (0..1000u64)
        .flat_map(|i| [i, i.wrapping_mul(0x9E37_79B9_7F4A_7C15)].map(u64::to_le_bytes).concat())
        .collect();
    std::fs::write(&path, bytes).unwrap();
    format!("raw:{}?dtype=u8&shape=16", path.display())
}

fn loader(uri: &str, more: &[(&str, &str)]) -> Loader<'static> {
    let options = JOB.iter().chain(more).fold(Options::new(), |all, (key, value)| all.set(key, *value));
    Loader::new(&Dataset::open(uri, &options).unwrap(), &options).unwrap()
}

/// The next batches, to the end of the job when `limit` is not reached.
fn bytes_of(loader: &Loader<'_>, limit: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut batches = 0;
    while batches < limit {
        let before = batches;
        for batch in loader.epoch().take(limit - batches) {
            bytes.extend_from_slice(batch.unwrap().tensor("data").unwrap().bytes().unwrap());
            batches += 1;
        }
        if batches == before {
            break;
        }
    }
    bytes
}

fn cat(uri: &str, more: &[&str]) -> Vec<u8> {
    let job: Vec<String> = JOB.iter().map(|(key, value)| format!("--{key}={value}")).collect();
    let mut words = vec!["cat", uri];
    words.extend(job.iter().map(String::as_str));
    words.extend_from_slice(more);
    shell(&words)
}

#[test]
#[ignore = "needs the program dataline"]
fn the_bytes_of_a_job_are_those_of_dataline_cat() {
    let uri = uri("same.raw");
    let whole = cat(&uri, &[]);
    assert_eq!(whole.len(), 2 * 32 * 32 * 16, "two epochs of 32 full batches");
    for workers in ["0", "1", "2"] {
        assert!(
            bytes_of(&loader(&uri, &[("num_workers", workers)]), usize::MAX) == whole,
            "{workers} workers"
        );
    }
}

#[test]
#[ignore = "needs the program dataline"]
fn a_state_goes_from_the_shell_to_rust_and_back() {
    let uri = uri("chain.raw");
    let whole = cat(&uri, &[]);
    let state = file("chain.state");
    let state_flag = state.to_str().unwrap();

    let mut joined = cat(&uri, &["--batches", "5", "--save-state", state_flag]);
    let here = loader(&uri, &[]);
    here.load_state(&std::fs::read_to_string(&state).unwrap()).unwrap();
    joined.extend(bytes_of(&here, 40)); // over the end of the first epoch
    std::fs::write(&state, here.save_state().unwrap()).unwrap();
    joined.extend(cat(&uri, &["--load-state", state_flag]));
    assert!(joined == whole, "{} bytes joined, {} in one run", joined.len(), whole.len());
}

#[test]
#[ignore = "needs the program dataline"]
fn the_tables_are_those_of_the_shell() {
    let shown = String::from_utf8(shell(&["options", "--json"])).unwrap();
    let table = dataline::options_table();
    for option in &table {
        assert!(shown.contains(&format!("\"{}\"", option.key)), "{}", option.key);
    }
    assert_eq!(shown.matches("\"key\"").count(), table.len());
    let shown = String::from_utf8(shell(&["transforms", "--json"])).unwrap();
    for transform in dataline::transforms_table(None) {
        assert!(shown.contains(&format!("\"{}\"", transform.name)), "{}", transform.name);
    }
}
