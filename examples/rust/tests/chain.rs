//! `chain` against the program `dataline`: the parts of a job, joined, are the job. It needs the program (DATALINE_BIN, or
//! on the PATH), so a plain `cargo test` leaves that test out; check.sh does not.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::path::PathBuf;
use std::process::{Command, Output};

const JOB: [&str; 5] = ["batch_size=32", "shuffle=full", "seed=11", "last_batch=pad", "epochs=2"];

fn file(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

/// 1000 records of 16 bytes, no two alike.
fn records(name: &str) -> String {
    let record = |i: u64| [i, i.wrapping_mul(0x9E37_79B9_7F4A_7C15)].map(u64::to_le_bytes).concat();
    std::fs::write(file(name), (0..1000).flat_map(record).collect::<Vec<u8>>()).unwrap();
    format!("raw:{}?dtype=u8&shape=16", file(name))
}

fn chain(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chain")).args(arguments).args(JOB).output().unwrap()
}

fn part(arguments: &[&str]) -> Vec<u8> {
    let output = chain(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
#[ignore = "needs the program dataline"]
fn parts_of_a_job_joined_are_what_dataline_cat_writes() {
    let (uri, state) = (records("job.raw"), file("job.state"));
    let program = std::env::var_os("DATALINE_BIN").unwrap_or_else(|| "dataline".into());
    let flags = JOB.map(|pair| format!("--{pair}"));
    let cat = |more: &[&str]| {
        let output = Command::new(&program).args(["cat", &uri]).args(&flags).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut joined = part(&[&uri, "-", &state, "5", "data"]);
    joined.extend(cat(&["--load-state", &state, "--batches", "20", "--save-state", &state]));
    joined.extend(part(&[&uri, &state, &state, "10", "data"])); // over the end of the first epoch
    joined.extend(part(&[&uri, &state, &state, "0", "data"]));
    joined.extend(part(&[&uri, &state, "-", "-1", "data"]));
    assert!(joined == cat(&[]), "{} bytes joined", joined.len());
    assert_eq!(part(&[&uri, "-", "-", "-1", "data"]).len(), joined.len());
}

#[test]
fn what_goes_wrong_is_one_line_and_status_1() {
    let uri = records("wrong.raw");
    let nowhere = file("nowhere.state");
    let cases: [(&[&str], &str); 5] = [
        (&[&uri], "usage: chain"),
        (&[&uri, "-", "-", "many", "data"], "\"many\""),
        (&[&uri, &nowhere, "-", "1", "data"], "nowhere.state"),
        (&[&uri, "-", "-", "1", "image"], "no field 'image'; the fields are data"),
        (&["raw:nowhere.raw?dtype=u8", "-", "-", "1", "data"], "nowhere.raw"),
    ];
    for (arguments, says) in cases {
        let output = if arguments.len() == 1 {
            Command::new(env!("CARGO_BIN_EXE_chain")).args(arguments).output().unwrap()
        } else {
            chain(arguments)
        };
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.starts_with("chain: ") && text.contains(says), "{text}");
    }
}
