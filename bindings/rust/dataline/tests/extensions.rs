//! Extensions in Rust: what is refused, what fails, and who drops what and when. One file, for they share a probe.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;
mod samples;

use common::{file, loader_of, numbers, plugin, Drops, Told};
use dataline::{
    formats_table, storages_table, transforms_table, ArgumentInfo, Array, CancelFlag, Code, DType, Dataset,
    ExtensionError, Extensions, FirstBytes, Format, FormatRequest, Kind, Loader, Operator, OperatorRow,
    OperatorUse, Options, Sniff, Storage, StorageRequest, StoredObject,
};
use samples::{samples, Dlrec, Offset, Xor};
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn with(extensions: &Extensions) -> Options {
    Options::new().extensions(extensions)
}

fn bytes(count: usize) -> Dataset<'static> {
    let values: Vec<u8> = (0..count).map(|value| value as u8).collect();
    Dataset::from_arrays(&[Array::dense("x", &[count], &values).unwrap()], &Options::new()).unwrap()
}

type Prepare = fn(&mut OperatorUse<'_>) -> Result<(), ExtensionError>;
type Apply = fn(&mut OperatorRow<'_>) -> Result<(), ExtensionError>;

/// An operator `probe(first=1, other=none)` of functions, which tells when it and the states of its uses are dropped.
struct Probe {
    prepare: Prepare,
    apply: Apply,
    states: Drops,
    _own: Told<()>,
}

impl Operator for Probe {
    type State = Told<()>;

    fn name(&self) -> &str {
        "probe"
    }

    fn arguments(&self) -> Vec<ArgumentInfo<'_>> {
        vec![
            ArgumentInfo::new("first", "list").with_default("1"),
            ArgumentInfo::new("other", "word").with_default("none"),
        ]
    }

    fn prepare(&self, call: &mut OperatorUse<'_>) -> Result<Told<()>, ExtensionError> {
        (self.prepare)(call).map(|()| Told::new((), &self.states))
    }

    fn apply(&self, _: &Told<()>, row: &mut OperatorRow<'_>) -> Result<(), ExtensionError> {
        (self.apply)(row)
    }
}

fn probe(prepare: Prepare, apply: Apply) -> (Extensions, Drops, Drops) {
    let (states, own) = (Drops::default(), Drops::default());
    let mut extensions = Extensions::new().unwrap();
    let probe = Probe { prepare, apply, states: states.clone(), _own: Told::new((), &own) };
    extensions.add_operator(probe).unwrap();
    (extensions, states, own)
}

fn copy(row: &mut OperatorRow<'_>) -> Result<(), ExtensionError> {
    row.put(row.items::<u8>()?)
}

/// The loader of ten bytes through `transform`.
fn probed(extensions: &Extensions, transform: &str) -> dataline::Result<Loader<'static>> {
    Loader::new(&bytes(10), &with(extensions).set("transform", transform).set("num_workers", 2))
}

fn first_error(extensions: &Extensions, transform: &str) -> dataline::Error {
    match probed(extensions, transform) {
        Err(error) => error,
        Ok(loader) => loader.epoch().next().unwrap().unwrap_err(),
    }
}

#[test]
fn a_state_is_dropped_with_its_loader_and_the_operator_when_nothing_needs_it() {
    let (extensions, states, own) = probe(|_| Ok(()), copy);
    let options = with(&extensions).set("transform", "x: probe");
    drop(extensions);
    let loaders: Vec<_> = (0..3).map(|_| Loader::new(&bytes(10), &options).unwrap()).collect();
    drop(options);
    assert!(loaders.iter().all(|loader| loader.epoch().all(|batch| batch.is_ok())));
    assert_eq!((states.count(), own.count()), (0, 0));
    drop(loaders);
    assert_eq!((states.count(), own.count()), (3, 1));
}

#[test]
fn a_refused_extension_is_dropped_at_once() {
    let (mut extensions, states, own) = probe(|_| Ok(()), copy);
    let twin = Drops::default();
    let again = Probe { prepare: |_| Ok(()), apply: copy, states, _own: Told::new((), &twin) };
    let error = extensions.add_operator(again).unwrap_err();
    assert_eq!((error.code(), twin.count(), own.count()), (Code::InvalidArgument, 1, 0));
    assert!(error.message().contains("probe"), "{error}");
    drop(extensions);
    assert_eq!(own.count(), 1);
}

#[test]
fn names_that_are_taken_are_refused() {
    let mut extensions = samples();
    assert_eq!(extensions.add_format(Dlrec).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(extensions.add_operator(Offset).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(extensions.add_storage(Xor).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn what_is_added_later_does_not_reach_options_set_before() {
    let mut extensions = Extensions::new().unwrap();
    let options = with(&extensions).set("transform", "x: offset(1)");
    extensions.add_operator(Offset).unwrap();
    assert_eq!(Loader::new(&bytes(3), &options).unwrap_err().code(), Code::BadTransform);
    assert!(Loader::new(&bytes(3), &options.extensions(&extensions)).is_ok());
}

#[test]
fn the_tables_list_what_was_added() {
    let extensions = samples();
    let formats = formats_table(Some(&extensions));
    let format = formats.last().unwrap();
    assert_eq!((format.name, format.doc), ("dlrec", "rows of bytes, for tests"));
    assert_eq!((format.keys[0].name, format.keys[0].values), ("labels", "none|sum"));
    assert_eq!(format.keys[0].default_value, Some("none"));
    assert_eq!(formats_table(None).len() + 1, formats.len());
    let operators = transforms_table(Some(&extensions));
    let operator = operators.last().unwrap();
    assert_eq!(operator.name, "offset");
    assert_eq!((operator.arguments[0].name, operator.arguments[0].default_value), ("value", None));
    assert_eq!((operator.arguments[1].name, operator.arguments[1].default_value), ("noise", Some("0")));
    assert_eq!(transforms_table(None).len() + 1, operators.len());
    let storages = storages_table(&extensions);
    assert_eq!((storages.len(), storages[0].scheme), (1, "xor"));
}

#[test]
fn panics_of_an_operator_become_errors() {
    let (extensions, states, own) = probe(|_| panic!("prepare broke"), copy);
    let error = first_error(&extensions, "x: probe");
    assert!(error.message().contains("panicked: prepare broke"), "{error}");
    let (extensions, ..) = probe(|_| Ok(()), |_| panic!("apply broke"));
    let error = first_error(&extensions, "x: probe");
    assert_eq!(error.code(), Code::BadSample);
    assert!(error.message().contains("panicked: apply broke"), "{error}");
    assert_eq!((states.count(), own.count()), (0, 0), "no state was made");
}

#[test]
fn an_operator_knows_its_arguments_and_its_input() {
    let prepare: Prepare = |call| {
        let (first, other) = (call.argument("first").unwrap(), call.argument("other").unwrap());
        assert_eq!((first.given, first.numbers), (true, &[2.0, 3.0][..]));
        assert_eq!((other.given, other.text), (false, None));
        assert!(call.argument("third").is_none());
        assert_eq!(
            (call.input.name.as_str(), call.input.dtype, call.input.kind),
            ("x", DType::U8, Kind::Dense)
        );
        assert!(call.number("first").is_err());
        Ok(())
    };
    let (extensions, ..) = probe(prepare, copy);
    probed(&extensions, "x: probe([2,3])").unwrap();
}

#[test]
fn an_output_that_does_not_fit_is_a_bad_sample() {
    let cases: [(Apply, &str); 4] = [
        (|row| row.put(row.items::<u8>()?.chain([1])), "expected 1 bytes of output, got 2"),
        (|row| row.put([1f32]), "output: expected u8, got f32"),
        (|row| row.items::<i64>().map(|_| ()), "input: expected u8, got i64"),
        (|_| Ok(()), "the output was not filled"),
    ];
    for (apply, says) in cases {
        let (extensions, ..) = probe(|_| Ok(()), apply);
        let error = first_error(&extensions, "x: probe");
        assert_eq!(error.code(), Code::BadSample);
        assert!(error.message().contains(says), "{error}");
    }
}

#[test]
fn an_operator_makes_ragged_rows_and_too_large_ones_are_bad() {
    let prepare: Prepare = |call| {
        call.output.kind = Kind::Ragged;
        call.output.shape = vec![-1];
        call.output.bytes = 4;
        Ok(())
    };
    let apply: Apply = |row| {
        let count = usize::from(row.input()[0]);
        row.put(std::iter::repeat(7u8).take(count))
    };
    let (extensions, ..) = probe(prepare, apply);
    let options = with(&extensions).set("transform", "x: probe").set("on_error", "quarantine");
    let loader = Loader::new(&bytes(6), &options.set("epochs", 1)).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let lengths: Vec<usize> = batch.tensor("x").unwrap().rows::<u8>().unwrap().map(<[u8]>::len).collect();
    assert_eq!(lengths, [0, 1, 2, 3, 4, 0], "the first stands in for the last");
    let bad: Vec<_> = loader.bad_samples().unwrap().into_iter().map(|bad| bad.code).collect();
    assert_eq!(bad, [Code::TooLarge]);
}

#[test]
fn draws_are_the_same_for_every_number_of_workers() {
    let apply: Apply = |row| {
        let value = row.random(0) ^ row.random(1) ^ row.seed() ^ row.slot() as u64 ^ row.epoch() as u64;
        row.put([value as u8])
    };
    let prepare: Prepare = |call| {
        call.draws = true;
        Ok(())
    };
    let (extensions, ..) = probe(prepare, apply);
    let stream = |workers: i32| {
        let options = with(&extensions).set("transform", "x: probe").set("shuffle", "full").set("seed", 5);
        let options = options.set("num_workers", workers).set("batch_size", 4).set("epochs", 2);
        let loader = Loader::new(&bytes(64), &options).unwrap();
        let epoch = |_| loader.epoch().flat_map(|b| b.unwrap().view::<u8>("x").unwrap().to_vec()).collect();
        (0..2).map(epoch).collect::<Vec<Vec<u8>>>()
    };
    let alone = stream(0);
    assert_ne!(alone[0], alone[1]);
    assert_eq!(stream(1), alone);
    assert_eq!(stream(4), alone);
}

/// Waits until `expected` threads are here.
#[derive(Default)]
struct Meeting {
    here: Mutex<HashSet<thread::ThreadId>>,
    changed: Condvar,
}

impl Meeting {
    fn join(&self, expected: usize) {
        let mut here = self.here.lock().unwrap();
        here.insert(thread::current().id());
        self.changed.notify_all();
        while here.len() < expected {
            here = self.changed.wait(here).unwrap();
        }
    }
}

struct Together(Arc<Meeting>);

impl Operator for Together {
    type State = ();

    fn name(&self) -> &str {
        "together"
    }

    fn prepare(&self, call: &mut OperatorUse<'_>) -> Result<(), ExtensionError> {
        call.heavy = true;
        Ok(())
    }

    fn apply(&self, (): &(), row: &mut OperatorRow<'_>) -> Result<(), ExtensionError> {
        self.0.join(3);
        copy(row)
    }
}

#[test]
fn several_workers_are_in_an_operator_at_once() {
    let meeting = Arc::new(Meeting::default());
    let mut extensions = Extensions::new().unwrap();
    extensions.add_operator(Together(Arc::clone(&meeting))).unwrap();
    let options =
        with(&extensions).set("transform", "x: together").set("num_workers", 3).set("batch_size", 16);
    let loader = Loader::new(&bytes(64), &options.set("epochs", 1)).unwrap();
    assert_eq!(loader.epoch().map(Result::unwrap).count(), 4);
    assert!(meeting.here.lock().unwrap().len() >= 3);
}

/// A format and a storage that fail as the path says.
struct Failing {
    objects: Arc<()>,
    _own: Told<()>,
}

struct Nothing {
    _objects: Arc<()>,
}

fn fail(path: &str) -> Result<(), ExtensionError> {
    match path.rsplit('/').next().unwrap() {
        "panic" => panic!("on purpose"),
        "text" => Err("said so".into()),
        "system" => Err(io::Error::from_raw_os_error(13).into()),
        "cancelled" => Err(dataline::Error::Cancelled.into()),
        _ => Ok(()),
    }
}

impl Format for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn sniff(&self, file: &FirstBytes<'_>) -> Sniff {
        match file.bytes.starts_with(b"sniff") {
            true => panic!("sniffing broke"),
            false => Sniff::No,
        }
    }

    fn open(&self, request: &FormatRequest<'_>) -> Result<Dataset<'static>, ExtensionError> {
        fail(request.path())?;
        Ok(numbers(3))
    }
}

impl Storage for Failing {
    fn scheme(&self) -> &str {
        "failing"
    }

    fn open(&self, request: &StorageRequest<'_>) -> Result<Box<dyn StoredObject>, ExtensionError> {
        assert!(!request.cancelled().is_cancelled());
        fail(request.path())?;
        Ok(Box::new(Nothing { _objects: Arc::clone(&self.objects) }))
    }
}

impl StoredObject for Nothing {
    fn bytes(&self) -> u64 {
        64
    }

    fn read(&self, offset: u64, out: &mut [u8], cancelled: CancelFlag<'_>) -> Result<(), ExtensionError> {
        assert!(!cancelled.is_cancelled());
        match offset {
            0..=31 => out.fill(0),
            _ => return Err("the far end is dark".into()),
        }
        Ok(())
    }
}

fn failing() -> (Extensions, Drops, Arc<()>) {
    let (drops, objects) = (Drops::default(), Arc::new(()));
    let failing = || Failing { objects: Arc::clone(&objects), _own: Told::new((), &drops) };
    let mut extensions = Extensions::new().unwrap();
    extensions.add_format(failing()).unwrap();
    extensions.add_storage(failing()).unwrap();
    (extensions, drops, objects)
}

#[test]
fn errors_and_panics_of_formats_and_storages_keep_their_code_and_text() {
    let (extensions, ..) = failing();
    for scheme in ["failing:", "raw:failing://"] {
        let open = |what: &str| {
            let keys = if scheme == "failing:" { "" } else { "?dtype=u8&shape=4" };
            Dataset::open(&format!("{scheme}{what}{keys}"), &with(&extensions)).unwrap_err()
        };
        let error = open("panic");
        assert_eq!(error.code(), Code::Reader);
        assert!(error.message().contains("panicked: on purpose"), "{error}");
        let error = open("text");
        assert_eq!(error.code(), Code::Reader);
        assert!(error.message().contains("said so"), "{error}");
        let error = open("system");
        assert_eq!(error.code(), Code::Permission);
        assert_eq!(error.failure().unwrap().os_error.as_ref().unwrap().raw_os_error(), Some(13));
        let error = open("cancelled"); // which nobody asked for
        assert_eq!(error.code(), Code::Reader);
        assert!(error.message().contains("but nothing was cancelled"), "{error}");
    }
}

#[test]
fn a_panic_while_sniffing_says_no() {
    let (extensions, ..) = failing();
    let path = file("sniffed.unknown");
    std::fs::write(&path, "sniff me").unwrap();
    let error = Dataset::open(path.to_str().unwrap(), &with(&extensions)).unwrap_err();
    assert_eq!(error.code(), Code::BadUri, "{error}");
}

#[test]
fn an_object_is_dropped_with_its_dataset_and_a_failed_read_is_a_bad_sample() {
    let (extensions, drops, objects) = failing();
    let dataset = Dataset::open("raw:failing://good?dtype=u8&shape=4", &with(&extensions)).unwrap();
    drop(extensions);
    assert_eq!(dataset.len(), Some(16));
    let loader = loader_of(&dataset, &[("batch_size", "1"), ("epochs", "1")]).unwrap();
    let errors: Vec<_> = loader.epoch().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 8);
    assert!(errors.iter().all(|error| error.message().contains("the far end is dark")), "{errors:?}");
    drop(loader);
    assert!(Arc::strong_count(&objects) > 1, "the dataset has the object");
    drop(dataset);
    assert_eq!((drops.count(), Arc::strong_count(&objects)), (2, 1));
}

#[test]
fn a_plug_in_that_is_not_there_is_not_found() {
    let mut extensions = Extensions::new().unwrap();
    let error = extensions.load("/nowhere/libdataline-nothing.so").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("nothing"), "{error}");
}

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let path = file("libdataline-text.so");
    std::fs::write(&path, "no library").unwrap();
    let error = Extensions::new().unwrap().load(path.to_str().unwrap()).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("libdataline-text.so"), "{error}");
}

#[test]
fn a_library_that_is_no_plug_in_or_of_another_abi_is_refused() {
    for (name, says) in [("no_entry", "not a plug-in"), ("bad_abi", "built for ABI")] {
        let path = match plugin(name) {
            Some(path) => path,
            None => return,
        };
        let mut extensions = Extensions::new().unwrap();
        let error = extensions.load(&path).unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
        assert!(error.message().contains(says), "{error}");
        assert_eq!(formats_table(Some(&extensions)).len(), formats_table(None).len(), "nothing was added");
    }
}
