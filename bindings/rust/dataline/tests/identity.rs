//! Which data a dataset holds: its identity, and the files and fingerprints that sources and storages state.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::numbers;
use dataline::{
    CancelFlag, Code, DType, Dataset, Error, ExtensionError, Extensions, Field, Loader, Options, Record,
    Source, SourceError, Storage, StorageRequest, StoredObject,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::{env, fs, process};

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("dataline-identity-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, value: u8) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, [value; 8]).unwrap();
        path
    }

    /// Another file of the same size and time of modification at the same path.
    fn exchange(&self, path: &Path, value: u8) {
        let other = self.file("other", value);
        assert!(Command::new("touch").arg("-r").arg(path).arg(&other).status().unwrap().success());
        fs::rename(other, path).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Rows of four bytes of files, opened for each row; two rows a file.
struct Rows {
    files: Vec<PathBuf>,
    ends: Vec<usize>,
}

impl Source for Rows {
    fn fields(&self) -> Vec<Field> {
        vec![Field::dense("x", DType::U8, &[4])]
    }

    fn len(&self) -> usize {
        2 * self.files.len()
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        let bytes = fs::read(&self.files[index / 2])?;
        record.put(0, &bytes[index % 2 * 4..][..4])
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn file_ends(&self) -> Vec<usize> {
        self.ends.clone()
    }
}

/// The values of one epoch, the state before it, and how many samples the cache had.
fn run(dataset: &Dataset<'_>, options: &Options) -> (Vec<u8>, String, i64) {
    let loader = Loader::new(dataset, options).unwrap();
    let state = loader.save_state().unwrap();
    let mut values = Vec::new();
    for batch in &loader {
        values.extend_from_slice(batch.unwrap().view::<u8>("x").unwrap());
    }
    (values, state, loader.stats().unwrap().cache_read)
}

#[test]
fn it_is_equal_for_the_same_file_and_another_one_for_a_file_in_its_place() {
    let folder = Folder::new("file");
    let path = folder.file("rows.bin", b'a');
    let identity = || {
        let uri = format!("raw:{}?dtype=u8&shape=4", path.display());
        Dataset::open(&uri, &Options::new()).unwrap().identity().unwrap()
    };
    let first = identity();
    assert_eq!(identity(), first);
    folder.exchange(&path, b'b');
    assert_ne!(identity(), first);
}

#[test]
fn of_data_in_memory_it_is_unsupported() {
    let error = numbers(3).identity().unwrap_err();
    assert_eq!(error.code(), Code::Unsupported);
    assert!(error.message().contains("data in memory"), "{error}");
}

#[test]
fn a_file_that_a_source_states_is_noticed_by_caches_and_states() {
    for ends in [vec![], vec![2, 4]] {
        let folder = Folder::new(if ends.is_empty() { "source" } else { "ends" });
        let files = vec![folder.file("a", b'a'), folder.file("b", b'b')];
        let open = || {
            let rows = Rows { files: files.clone(), ends: ends.clone() };
            Dataset::from_source(rows, &Options::new()).unwrap()
        };
        let options = Options::new().set("epochs", 1).set("cache", folder.0.join("cache").to_str().unwrap());
        let (values, state, _) = run(&open(), &options);
        assert_eq!(values, [[b'a'; 8], [b'b'; 8]].concat());
        assert_eq!(run(&open(), &options).2, 4);
        folder.exchange(&files[1], b'c');
        let (values, _, kept) = run(&open(), &options);
        assert_eq!(values, [[b'a'; 8], [b'c'; 8]].concat());
        assert_eq!(
            kept,
            if ends.is_empty() { 0 } else { 2 },
            "with file_ends the rows of the other file stay"
        );
        let loader = Loader::new(&open(), &options).unwrap();
        assert_eq!(loader.load_state(&state).unwrap_err().code(), Code::StateRefused);
    }
}

#[test]
fn file_ends_that_fit_no_files_are_refused() {
    let error = |ends: &[usize]| {
        let rows = Rows { files: vec!["a".into(), "b".into()], ends: ends.to_vec() };
        Dataset::from_source(rows, &Options::new()).unwrap_err()
    };
    let says = |error: Error, text: &str| {
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains(text), "{error}");
    };
    says(error(&[4]), "1 file_ends for 2 files");
    says(error(&[3, 2]), "file_ends[1] is 2, expected 3 to 4");
    says(error(&[2, 3]), "file_ends end at 3");
}

/// One object that states a version, or none.
#[derive(Clone)]
struct Versioned(Arc<Mutex<(u8, Option<&'static str>)>>);
struct Object(u8, Option<&'static str>);

impl Storage for Versioned {
    fn scheme(&self) -> &str {
        "mem"
    }

    fn open(&self, _: &StorageRequest<'_>) -> Result<Box<dyn StoredObject>, ExtensionError> {
        let (value, version) = *self.0.lock().unwrap();
        Ok(Box::new(Object(value, version)))
    }
}

impl StoredObject for Object {
    fn bytes(&self) -> u64 {
        8
    }

    fn fingerprint(&self) -> Option<String> {
        self.1.map(str::to_owned)
    }

    fn read(&self, _: u64, out: &mut [u8], _: CancelFlag<'_>) -> Result<(), ExtensionError> {
        out.fill(self.0);
        Ok(())
    }
}

#[test]
fn an_object_is_the_same_by_its_fingerprint() {
    let folder = Folder::new("object");
    let object = Versioned(Arc::new(Mutex::new((b'a', Some("v1")))));
    let mut extensions = Extensions::new().unwrap();
    extensions.add_storage(object.clone()).unwrap();
    let cache = folder.0.join("cache");
    let options =
        Options::new().set("epochs", 1).set("cache", cache.to_str().unwrap()).extensions(&extensions);
    let open = || Dataset::open("raw:x=mem://x?dtype=u8&shape=4", &options).unwrap();
    let identity = open().identity().unwrap();
    assert_eq!(open().identity().unwrap(), identity);
    assert_eq!(run(&open(), &options).0, [b'a'; 8]);
    assert_eq!(run(&open(), &options).2, 2);
    *object.0.lock().unwrap() = (b'b', Some("v2"));
    assert_ne!(open().identity().unwrap(), identity);
    assert_eq!(run(&open(), &options).0, [b'b'; 8]);
    *object.0.lock().unwrap() = (b'b', None);
    assert_eq!(open().identity().unwrap_err().code(), Code::Unsupported);
    assert_eq!(Loader::new(&open(), &options).unwrap_err().code(), Code::Unsupported);
}
