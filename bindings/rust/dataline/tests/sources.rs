//! Records read by Rust code: good, bad, failing, panicking.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, Drops, Told};
use dataline::{Code, DType, Dataset, Error, Field, Loader, Options, Record, Source, SourceError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

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

/// Ten pictures that the source owns, and ten texts that are made for each call.
struct Lender {
    pictures: Vec<[f32; 4]>,
    texts: Drops,
    copied: Arc<AtomicUsize>,
}

impl Source for Lender {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::F32, &[4]), Field::ragged("text", DType::U8, &[])]
    }
    fn len(&self) -> usize {
        10
    }
    fn read<'s>(&'s self, index: usize, record: &mut Record<'s>) -> Result<(), SourceError> {
        record.borrow(0, &self.pictures[index])?;
        record.lend(1, Told::new(vec![b'k'; index], &self.texts))?;
        if index == 7 && self.copied.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err("torn after it was lent".into());
        }
        Ok(())
    }
}

#[test]
fn rows_are_made_from_what_a_source_lends_and_its_owner_is_dropped_once() {
    for workers in ["0", "2"] {
        let (texts, calls) = (Drops::default(), Arc::new(AtomicUsize::new(0)));
        let pictures = (0..10).map(|index| [index as f32; 4]).collect();
        let source = Lender { pictures, texts: texts.clone(), copied: calls.clone() };
        let dataset = Dataset::from_source(source, &Options::new()).unwrap();
        let options =
            [("batch_size", "10"), ("epochs", "2"), ("num_workers", workers), ("prefetch_depth", "1")];
        let loader = loader_of(&dataset, &options).unwrap();
        let mut batches = 0;
        let epoch = |_| loader.epoch().flatten().collect::<Vec<_>>();
        for batch in (0..2).flat_map(epoch) {
            let x: Vec<f32> = batch.view::<f32>("x").unwrap().chunks(4).map(|row| row[3]).collect();
            let expected: Vec<f32> = batch.sample_indices().iter().map(|index| *index as f32).collect();
            assert_eq!(x, expected);
            let lengths: Vec<usize> =
                batch.tensor("text").unwrap().rows::<u8>().unwrap().map(<[u8]>::len).collect();
            assert!(lengths
                .iter()
                .zip(batch.sample_indices())
                .all(|(length, index)| *length as i64 == *index));
            batches += 1;
        }
        assert_eq!(batches, 2);
        drop((loader, dataset));
        assert_eq!(texts.count(), 20, "one for each record that was asked for");
    }
}

#[test]
fn each_bad_record_has_its_own_text() {
    let read: Read = |index, record| match index % 4 {
        3 => Err(format!("page {index} is torn").into()),
        _ => good(index, record),
    };
    let loader = loader_of(&ten(read), &[("batch_size", "10"), ("epochs", "1")]).unwrap();
    assert!(loader.epoch().next().unwrap().is_err());
    let bad = loader.bad_samples().unwrap();
    assert_eq!(bad.len(), 2);
    for sample in bad {
        assert!(sample.message.ends_with(&format!(": page {} is torn", sample.index)), "{}", sample.message);
    }
}

#[test]
fn a_record_knows_its_place_in_the_epoch() {
    let read: Read = |_, record| {
        let (slot, epoch) = (record.slot().unwrap(), record.epoch().unwrap());
        assert_eq!(record.seed(), 42);
        record.put(0, &[epoch * 100 + slot])
    };
    let options = [("batch_size", "5"), ("shuffle", "full"), ("seed", "42"), ("epochs", "2")];
    let loader = loader_of(&ten(read), &options).unwrap();
    for epoch in 0..2 {
        let places: Vec<i64> = common::epoch_of(&loader).concat();
        assert_eq!(places, (0..10).map(|slot| epoch * 100 + slot).collect::<Vec<_>>());
    }
}

#[test]
fn a_slow_source_sees_that_its_loader_is_dropped() {
    struct Slow(Mutex<Sender<()>>, #[allow(dead_code)] Told<()>);
    impl Source for Slow {
        fn fields(&self) -> Vec<Field> {
            vec![Field::dense("x", DType::I64, &[])]
        }
        fn len(&self) -> usize {
            100
        }
        fn read(&self, _: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
            let _ = self.0.lock().unwrap().send(());
            let mut sum = 0i64;
            while !record.cancelled() {
                sum = (0..100_000).fold(sum, |sum, piece| sum ^ piece); // a piece of its work
            }
            record.put(0, &[sum])
        }
    }
    let ((entered, entries), drops) = (mpsc::channel(), Drops::default());
    let slow = Slow(Mutex::new(entered), Told::new((), &drops));
    let dataset = Dataset::from_source(slow, &Options::new()).unwrap();
    let loader = loader_of(&dataset, &[("num_workers", "2")]).unwrap();
    entries.recv().unwrap();
    drop((loader, dataset));
    assert_eq!(drops.count(), 1, "no worker was left behind in it");
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

/// Four hundred numbers in blocks; notes which it was told of, and whether the thread that made it reads.
struct Blocks {
    ends: Vec<usize>,
    prompt: bool,
    told: Arc<Mutex<BTreeSet<usize>>>,
    maker: ThreadId,
    called_by_maker: Arc<AtomicBool>,
}

impl Blocks {
    fn of(ends: &[usize]) -> Blocks {
        Blocks {
            ends: ends.to_vec(),
            prompt: false,
            told: Arc::default(),
            maker: thread::current().id(),
            called_by_maker: Arc::default(),
        }
    }
}

impl Source for Blocks {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::I64, &[])]
    }

    fn len(&self) -> usize {
        400
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        if thread::current().id() == self.maker {
            self.called_by_maker.store(true, Ordering::SeqCst);
        }
        record.put(0, &[index as i64])
    }

    fn block_ends(&self) -> Vec<usize> {
        self.ends.clone()
    }

    fn held_blocks(&self) -> usize {
        4
    }

    fn prompt(&self) -> bool {
        self.prompt
    }

    fn advise(&self, block: usize) {
        self.told.lock().unwrap().insert(block);
        assert_ne!(block, 2, "a block that cannot be opened ahead of its time");
    }
}

#[test]
fn a_window_has_no_more_blocks_open_than_the_source_can_keep_and_tells_of_them() {
    let source = Blocks::of(&(1..=40).map(|block| block * 10).collect::<Vec<_>>());
    let told = source.told.clone();
    let dataset = Dataset::from_source(source, &Options::new()).unwrap();
    let settings = [("shuffle", "window"), ("batch_size", "8"), ("num_workers", "0"), ("epochs", "1")];
    let (mut left, mut samples, mut most) = (BTreeMap::new(), 0, 0);
    for batch in &loader_of(&dataset, &settings).unwrap() {
        for x in batch.unwrap().view::<i64>("x").unwrap() {
            let of_block = left.entry(x / 10).or_insert(10);
            *of_block -= 1;
            let closed = *of_block == 0;
            most = most.max(left.len());
            if closed {
                left.remove(&(x / 10));
            }
            samples += 1;
        }
    }
    assert_eq!(samples, 400);
    assert!(most <= 4, "{most}");
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).len();
    assert!(told >= 39, "{told}: all but that of the first step");
}

#[test]
fn blocks_that_do_not_rise_to_the_count_are_refused() {
    for ends in [&[10, 10, 400][..], &[10, 20], &[401]] {
        let refused = Dataset::from_source(Blocks::of(ends), &Options::new()).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains("block_ends"), "{refused}");
    }
}

#[test]
fn a_prompt_source_is_called_by_a_consumer_that_waits_too() {
    let mut source = Blocks::of(&[]);
    source.prompt = true;
    let called = source.called_by_maker.clone();
    let dataset = Dataset::from_source(source, &Options::new()).unwrap();
    let loader = loader_of(&dataset, &[("batch_size", "4"), ("num_workers", "1")]).unwrap();
    for _ in 0..1_000_000 {
        if called.load(Ordering::SeqCst) {
            return;
        }
        loader.next(None).unwrap();
    }
    panic!("the consumer never read");
}
