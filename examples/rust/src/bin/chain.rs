//! A part of a job that other programs, in other languages, begin and go on with:
//! `chain URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]`
//!
//! Goes on at STATE_IN (`-`: at the beginning), writes the bytes of FIELD of the next BATCHES batches (-1: of all that are
//! left) to standard output, as `dataline cat --field FIELD` does, and saves the position to STATE_OUT (`-`: nowhere).
//!
//! SPDX-License-Identifier: Apache-2.0
#![forbid(unsafe_code)]

use dataline::{Dataset, Loader, Next, Options};
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: chain URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]";

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (uri, from, to, batches, field, pairs) = match arguments {
        [uri, from, to, batches, field, pairs @ ..] => (uri, from, to, batches, field, pairs),
        _ => return Err(USAGE.into()),
    };
    let limit =
        match batches.parse::<i64>().map_err(|_| format!("BATCHES: expected a number, got \"{batches}\""))? {
            count if count < 0 => u64::MAX,
            count => count as u64,
        };
    let mut options = Options::new();
    for pair in pairs {
        let (key, value) =
            pair.split_once('=').ok_or_else(|| format!("expected key=value, got \"{pair}\""))?;
        options = options.set(key, value);
    }

    let loader = Loader::new(&Dataset::open(uri, &options)?, &options)?;
    if from != "-" {
        let state = std::fs::read_to_string(from).map_err(|error| format!("{from}: {error}"))?;
        loader.load_state(&state)?;
    }
    let mut out = io::stdout().lock();
    let mut delivered = 0;
    while delivered < limit {
        match loader.next(None)? {
            Next::Batch(batch) => {
                out.write_all(batch.tensor(field)?.bytes()?)?;
                delivered += 1;
            }
            Next::End => break,
            Next::EndOfEpoch | Next::TimedOut => (),
        }
    }
    out.flush()?;
    if to != "-" {
        std::fs::write(to, loader.save_state()?).map_err(|error| format!("{to}: {error}"))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chain: {error}");
            ExitCode::FAILURE
        }
    }
}
