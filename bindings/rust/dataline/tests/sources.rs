//! Records read by Rust code: good, bad, failing, panicking.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, Drops, Told};
use dataline::{Code, DType, Dataset, Error, Field, Loader, Options, Record, Source, SourceError};
use std::sync::atomic::{AtomicUsize, Ordering};

type Read = fn(usize, &mut Record<'_>) -> Result<(), SourceError>;

/// Ten records of field `x` (i64) and field `text` (ragged u8), each read by a function.
struct Ten(Told<Read>);

impl Source for Ten {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::I64, &[]), Field::ragged("text", DType::U8, &[]).with_max_bytes(8)]
    }

    fn len(&self) -> usize {
        10
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        (self.0.data)(index, record)
    }
}

fn ten(read: Read) -> Dataset<'static> {
    Dataset::from_source(Ten(Told::new(read, &Drops::default())), &Options::new()).unwrap()
}

fn good(index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
    record.put(0, &[index as i64])?;
    record.put_bytes(1, &b"abcdefgh"[..index % 3])
}

/// Of an epoch with each record in a batch of its own: the x that came, and the errors.
fn outcome(read: Read) -> (Vec<i64>, Vec<Error>) {
    let loader =
        loader_of(&ten(read), &[("batch_size", "1"), ("epochs", "1"), ("num_workers", "1")]).unwrap();
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for batch in &loader {
        match batch {
            Ok(batch) => values.extend_from_slice(batch.view::<i64>("x").unwrap()),
            Err(error) => errors.push(error),
        }
    }
    (values, errors)
}

const WITHOUT_SIX: [i64; 9] = [0, 1, 2, 3, 4, 5, 7, 8, 9];

/// Record 6 is bad for the reason that `says`; the others are delivered.
fn only_six_is_bad(read: Read, says: &str) {
    let (values, errors) = outcome(read);
    assert_eq!(values, WITHOUT_SIX);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((errors[0].code(), errors[0].sample_index()), (Code::BadSample, Some(6)));
    assert!(errors[0].message().contains(says), "{}", errors[0]);
}

#[test]
fn dense_and_ragged_fields_are_delivered() {
    let dataset = ten(good);
    assert_eq!((dataset.len(), dataset.format().as_str()), (Some(10), "reader"));
    let batch = loader_of(&dataset, &[("batch_size", "10")]).unwrap().epoch().next().unwrap().unwrap();
    assert_eq!(batch.view::<i64>("x").unwrap(), (0..10).collect::<Vec<_>>());
    let lengths: Vec<usize> = batch.tensor("text").unwrap().rows::<u8>().unwrap().map(<[u8]>::len).collect();
    assert_eq!(lengths, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn an_error_of_the_source_is_told_with_its_sample() {
    let read: Read = |index, record| match index {
        6 => Err("the tape tore".into()),
        _ => good(index, record),
    };
    only_six_is_bad(read, "the tape tore");
}

#[test]
fn a_panic_in_the_source_is_a_bad_sample() {
    let read: Read = |index, record| {
        assert_ne!(index, 6, "on purpose");
        good(index, record)
    };
    only_six_is_bad(read, "panicked: ");
}

#[test]
fn what_a_source_puts_is_checked() {
    let read: Read = |index, record| if index == 6 { record.put(0, &[1i32, 2]) } else { good(index, record) };
    only_six_is_bad(read, "field 'x': expected i64, got i32");
    let read: Read = |index, record| if index == 6 { record.put(0, &[1i64, 2]) } else { good(index, record) };
    only_six_is_bad(read, "field 'x': expected 8 bytes, got 16");
    let read: Read = |index, record| if index == 6 { record.put(1, b"no x") } else { good(index, record) };
    only_six_is_bad(read, "field 'x' was not filled");
    let read: Read = |index, record| if index == 6 { record.put(2, &[0u8]) } else { good(index, record) };
    only_six_is_bad(read, "field 2: expected less than 2");
    let read: Read = |index, record| {
        good(index, record)?;
        record.put(1, &vec![b'x'; if index == 6 { 9 } else { 8 }])
    };
    only_six_is_bad(read, "9 bytes, at most 8");
}

#[test]
fn bytes_written_in_place_are_delivered() {
    let read: Read = |index, record| {
        record.bytes_mut(0)?.copy_from_slice(&(index as i64 * 3).to_ne_bytes());
        record.bytes_mut(1).map(|_| ()).or(Ok(())) // ragged: refused
    };
    let (values, errors) = outcome(read);
    assert_eq!(values, (0..10).map(|index| index * 3).collect::<Vec<_>>());
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn bad_samples_are_replaced_and_listed() {
    let read: Read = |index, record| if index == 6 { Err("torn".into()) } else { good(index, record) };
    let loader = loader_of(&ten(read), &[("on_error", "quarantine"), ("epochs", "1")]).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let bad = loader.bad_samples().unwrap();
    assert_eq!(bad.len(), 1);
    assert_eq!(
        (bad[0].index, bad[0].code, bad[0].epoch, bad[0].step, bad[0].slot),
        (6, Code::Reader, 0, 0, 6)
    );
    assert!(bad[0].message.contains("torn"), "{}", bad[0].message);
    assert_eq!(Some(batch.sample_indices()[6]), bad[0].replacement);
    let stats = loader.stats().unwrap();
    assert_eq!((stats.bad, stats.replaced, stats.samples), (1, 1, 10));
}

#[test]
fn a_source_is_dropped_once_and_a_refused_one_too() {
    let drops = Drops::default();
    let read: Read = good;
    let dataset = Dataset::from_source(Ten(Told::new(read, &drops)), &Options::new()).unwrap();
    let loader = loader_of(&dataset, &[]).unwrap();
    drop(dataset);
    assert_eq!(drops.count(), 0);
    drop(loader);
    assert_eq!(drops.count(), 1);

    struct Nothing(#[allow(dead_code)] Told<()>);
    impl Source for Nothing {
        fn fields(&self) -> Vec<Field> {
            Vec::new()
        }
        fn len(&self) -> usize {
            1
        }
        fn read(&self, _: usize, _: &mut Record<'_>) -> Result<(), SourceError> {
            Ok(())
        }
    }
    let refused = Dataset::from_source(Nothing(Told::new((), &drops)), &Options::new());
    assert_eq!(refused.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(drops.count(), 2);
}

#[test]
fn a_fingerprint_refuses_a_state_of_other_data() {
    struct Named(&'static str, AtomicUsize);
    impl Source for Named {
        fn fields(&self) -> Vec<Field> {
            vec![Field::dense("x", DType::U8, &[2]).with_axes("W")]
        }
        fn len(&self) -> usize {
            self.1.fetch_add(1, Ordering::SeqCst);
            4
        }
        fn read(&self, _: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
            record.put(0, &[0u8, 1])
        }
        fn fingerprint(&self) -> Option<String> {
            Some(self.0.to_owned())
        }
    }
    let loader = |name| {
        let dataset = Dataset::from_source(Named(name, AtomicUsize::new(0)), &Options::new()).unwrap();
        Loader::new(&dataset, &Options::new()).unwrap()
    };
    let state = loader("a").save_state().unwrap();
    loader("a").load_state(&state).unwrap();
    assert_eq!(loader("b").load_state(&state).unwrap_err().code(), Code::StateRefused);
}
