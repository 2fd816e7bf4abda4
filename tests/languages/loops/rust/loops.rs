//! The driver of loops.json on the crate `dataline` (../README.md).
//!
//! SPDX-License-Identifier: Apache-2.0
#![forbid(unsafe_code)]
mod calls;

use dataline::{Array, Batch, Dataset, Epoch, Error, Loader, Next, Options, Result};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};

fn said_error(error: &Error) -> String {
    let name = error.code().to_string();
    let name = name.trim_start_matches("DL_").trim_start_matches("ERR_");
    name.to_lowercase()
}

fn said_done(done: Result<()>) -> String {
    done.map_or_else(|error| said_error(&error), |()| "ok".to_owned())
}

fn said_batch(batch: &Batch) -> String {
    let samples: Vec<String> = batch.sample_indices().iter().map(i64::to_string).collect();
    format!("{}:{}", batch.info().epoch, samples.join(","))
}

/// The next item of a loop, and what is printed for it.
fn next_of(epoch: &Epoch<'_>) -> (Option<Batch>, String) {
    match epoch.iter().next() {
        Some(Ok(batch)) => {
            let said = said_batch(&batch);
            (Some(batch), said)
        }
        Some(Err(error)) => (None, said_error(&error)),
        None => (None, "end_of_epoch".to_owned()),
    }
}

fn take(loader: &Loader<'_>) -> String {
    match loader.next(None) {
        Ok(Next::Batch(batch)) => said_batch(&batch),
        Ok(Next::EndOfEpoch) => "end_of_epoch".to_owned(),
        Ok(Next::End) => "end".to_owned(),
        Ok(Next::TimedOut) => "timeout".to_owned(),
        Err(error) => said_error(&error),
    }
}

/// `limit`: batches after which the loop is left; `None`: it runs to its end.
fn loop_statement(loader: &Loader<'_>, limit: Option<usize>) -> Result<String> {
    let mut batches = Vec::new();
    for batch in loader {
        batches.push(said_batch(&batch?));
        if Some(batches.len()) == limit {
            break;
        }
    }
    Ok(if batches.is_empty() { "nothing".to_owned() } else { batches.join(" ") })
}

fn share(epoch: &Epoch<'_>, count: usize) -> Result<String> {
    let take_all = || {
        let mut samples = Vec::new();
        for batch in epoch {
            samples.extend_from_slice(batch?.sample_indices());
        }
        Ok(samples)
    };
    let ended: Vec<Result<Vec<i64>>> = thread::scope(|threads| {
        let all: Vec<_> = (0..count).map(|_| threads.spawn(take_all)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let ends = ended.len();
    let samples = ended.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let different: BTreeSet<_> = samples.iter().collect();
    Ok(format!("{} samples, {} different, {ends} ends", samples.len(), different.len()))
}

/// What the commands of one loader work on. `'l`: of the loader; `'t`: of the threads that are spawned.
struct Job<'t, 'l> {
    loader: &'l Loader<'l>,
    threads: &'t Scope<'t, 'l>,
    loops: HashMap<String, Arc<Epoch<'l>>>,
    spawned: HashMap<String, ScopedJoinHandle<'t, String>>,
    held: Vec<Batch>,
    state: String,
}

impl<'t, 'l> Job<'t, 'l> {
    fn run(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["next", name] => next_of(&self.loops[name]).1,
            ["take"] => take(self.loader),
            ["hold", name] => {
                let (batch, said) = next_of(&self.loops[name]);
                self.held.extend(batch);
                said
            }
            ["for", count] => {
                loop_statement(self.loader, count.parse().ok()).unwrap_or_else(|e| said_error(&e))
            }
            ["share", name, count] => {
                share(&self.loops[name], count.parse().unwrap()).unwrap_or_else(|e| said_error(&e))
            }
            ["call", name, ..] => {
                let numbers: Vec<i64> = words[2..].iter().map(|word| word.parse().unwrap()).collect();
                said_done(calls::call(self.loader, name, &numbers))
            }
            ["get", name] => calls::get(self.loader, name).unwrap_or_else(|error| said_error(&error)),
            ["position"] => {
                let at = self.loader.position().unwrap();
                format!("{} {}", at.epoch, at.step)
            }
            ["spawn", thread, "next", name] => {
                let epoch = Arc::clone(&self.loops[name]);
                self.spawn(thread, move || next_of(&epoch).1)
            }
            ["spawn", thread, "take"] => {
                let loader = self.loader;
                self.spawn(thread, move || take(loader))
            }
            ["join", thread] => self.spawned.remove(thread).unwrap().join().unwrap(),
            ["seek", epoch, step] => {
                said_done(self.loader.seek(epoch.parse().unwrap(), step.parse().unwrap()))
            }
            ["save"] => said_done(self.loader.save_state().map(|state| self.state = state)),
            ["load"] => said_done(self.loader.load_state(&self.state)),
            _ => {
                self.tell(&words);
                "ok".to_owned()
            }
        }
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() -> String + Send + 't) -> String {
        self.spawned.insert(name.to_owned(), self.threads.spawn(run));
        "ok".to_owned()
    }

    /// Commands that cannot fail.
    fn tell(&mut self, words: &[&str]) {
        match *words {
            ["begin", name] => drop(self.loops.insert(name.to_owned(), Arc::new(self.loader.epoch()))),
            ["drop", name] => drop(self.loops.remove(name).unwrap()),
            ["release"] => self.held.clear(),
            ["interrupt"] => self.loader.cancel_handle().interrupt(),
            ["interrupt", name] => self.loops[name].interrupt(),
            ["cancel"] => self.loader.cancel_handle().cancel(),
            _ => panic!("{words:?}"),
        }
    }
}

/// A loader as `open` describes it.
fn open(command: &str) -> Result<Loader<'static>> {
    let mut words = command.split(' ').skip(1);
    let samples: usize = words.next().unwrap().parse().unwrap();
    let rows: Vec<i64> = (0..samples as i64).collect();
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[samples], &rows)?], &Options::new())?;
    let pairs = words.map(|word| word.split_once('=').unwrap());
    Loader::new(&dataset, &pairs.fold(Options::new(), |options, (key, value)| options.set(key, value)))
}

/// Runs commands until one opens another loader, which it returns.
fn run_job(loader: &Loader<'_>, commands: &mut impl Iterator<Item = String>) -> Option<String> {
    thread::scope(|threads| {
        let (loops, spawned, held) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut job = Job { loader, threads, loops, spawned, held, state: String::new() };
        for command in commands {
            if command.starts_with("open ") {
                return Some(command);
            }
            println!("{}", job.run(&command));
        }
        None
    })
}

fn main() {
    let mut commands = std::io::stdin().lines().map(std::result::Result::unwrap);
    let mut opened = commands.next();
    while let Some(command) = opened {
        let loader = open(&command).unwrap();
        println!("ok");
        opened = run_job(&loader, &mut commands);
    }
}
