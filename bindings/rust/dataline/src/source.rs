//! Records read by Rust code.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::field::Schema;
use crate::lend::{give_back, lend, panic_text};
use crate::record::Kept;
use crate::{ffi, Code, Dataset, Error, Field, Options, Record, Result};
use dataline_sys as sys;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

/// The error of a record that could not be read. The error that the loader returns contains its text.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Records from your own code: a decoder, a simulator, a database. Slower than the library's own formats.
///
/// The loader's threads call `read` concurrently (with `num_workers=0` the thread in
/// [`Loader::next`](crate::Loader::next) calls it). `read` must not call Dataline. A panic makes the sample
/// bad, as an error does.
///
/// ```
/// use dataline::{Dataset, DType, Field, Loader, Options, Record, Source, SourceError};
///
/// struct Squares;
///
/// impl Source for Squares {
///     fn fields(&self) -> Vec<Field> {
///         vec![Field::dense("x", DType::I64, &[]), Field::dense("y", DType::I64, &[])]
///     }
///     fn len(&self) -> usize {
///         1000
///     }
///     fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
///         let x = index as i64;
///         record.put(0, &[x])?;
///         record.put(1, &[x * x])
///     }
/// }
///
/// # fn main() -> dataline::Result<()> {
/// let dataset = Dataset::from_source(Squares, &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new().set("batch_size", 100).set("shuffle", true))?;
/// for batch in loader.epoch() {
///     let batch = batch?;
///     let (x, y) = (batch.view::<i64>("x")?, batch.view::<i64>("y")?);
///     assert!(x.iter().zip(y).all(|(x, y)| x * x == *y));
/// }
/// # Ok(())
/// # }
/// ```
pub trait Source: Send + Sync + 'static {
    /// The fields of each record. Called once.
    fn fields(&self) -> Vec<Field>;

    /// The number of records. Called once.
    fn len(&self) -> usize;

    /// Whether there are no records.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills record `index`. Values are copied ([`Record::put`]), borrowed from this source
    /// ([`Record::borrow`]), or lent with their owner ([`Record::lend`]). A slow `read` checks
    /// [`Record::cancelled`], so that dropping a loader does not wait for it.
    ///
    /// # Errors
    /// Any error makes the record bad; the option `on_error` decides what happens then.
    fn read<'s>(&'s self, index: usize, record: &mut Record<'s>) -> std::result::Result<(), SourceError>;

    /// A text that changes when the data changes. Saved states and the option `cache` compare it. Called
    /// once.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// The files that the records are read from, in order: local paths, or paths of storages in the options.
    /// Each must exist. The library records their state when the dataset is created. Saved states, the option
    /// `cache` and [`Dataset::identity`] compare it, as for files that the library reads. Called once; empty:
    /// none.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// One number per file, ascending: the index after the file's last record. The last number is
    /// [`len`](Source::len). A changed file then invalidates only its own samples in a cache. Empty: any file
    /// may contain any record. Called once.
    fn file_ends(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Blocks of records that are cheap to read together, such as a compressed group. Block i ends before
    /// record `block_ends()[i]`; the numbers ascend, and the last one is [`len`](Source::len).
    /// `shuffle=window` reads each block within a short part of an epoch. Empty: no blocks. Called once.
    fn block_ends(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The number of blocks that the source can keep open (0: any number). With 4 or more, `shuffle=window`
    /// never needs more at a time. Called once.
    fn held_blocks(&self) -> usize {
        0
    }

    /// Whether `read` is as fast as copying its records. A consumer that waits for a batch then also calls
    /// `read`. Called once.
    fn prompt(&self) -> bool {
        false
    }

    /// A hint: block `block` will be read soon. Note the number and return immediately, so that a thread can
    /// open the block while others read. Some blocks are never announced. Called concurrently, as `read` is;
    /// a panic is ignored.
    fn advise(&self, block: usize) {
        let _ = block;
    }
}

struct Reader<S> {
    source: S,
    fields: Vec<Field>,
}

impl Dataset<'_> {
    /// A dataset whose records your own code reads.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] for an invalid schema; the source is then dropped.
    pub fn from_source(source: impl Source, options: &Options) -> Result<Dataset<'static>> {
        open(source, options)
    }
}

fn open<S: Source>(source: S, options: &Options) -> Result<Dataset<'static>> {
    let options = options.raw()?;
    let fields = source.fields();
    let record_count = ffi::length(source.len())?;
    let fingerprint = source.fingerprint().map(|text| ffi::c_text("fingerprint", &text)).transpose()?;
    let ends = source.block_ends().into_iter().map(ffi::length).collect::<Result<Vec<i64>>>()?;
    let held_blocks = ffi::length(source.held_blocks())?;
    let prompt = i32::from(source.prompt());
    let paths = source.files().iter().map(|path| ffi::c_path("files", path)).collect::<Result<Vec<_>>>()?;
    let files: Vec<_> = paths.iter().map(|path| path.as_ptr()).collect();
    let file_count = ffi::length(files.len())?;
    let file_ends = source.file_ends().into_iter().map(ffi::length).collect::<Result<Vec<i64>>>()?;
    if !file_ends.is_empty() && file_ends.len() != files.len() {
        let counts = format!("{} file_ends for {} files", file_ends.len(), files.len());
        return Err(Error::new(Code::InvalidArgument, format!("source: {counts}, expected one per file")));
    }
    let schema = Schema::of(&fields)?;
    let field_count = ffi::count("fields", fields.len())?;
    let block_count = ffi::length(ends.len())?;
    lend(Reader { source, fields }, |reader, _, context| {
        let views = schema.views(&reader.fields);
        let table = sys::dl_reader {
            struct_size: ffi::size::<sys::dl_reader>(),
            field_count,
            fields: views.as_ptr(),
            record_count,
            context,
            read: Some(read::<S>),
            destroy: Some(give_back::<Reader<S>>),
            fingerprint: fingerprint.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            block_count,
            block_ends: if ends.is_empty() { ptr::null() } else { ends.as_ptr() },
            held_blocks,
            prompt,
            reserved: 0,
            file_count,
            files: files.as_ptr(),
            file_ends: if file_ends.is_empty() { ptr::null() } else { file_ends.as_ptr() },
            advise: if ends.is_empty() { None } else { Some(advise::<S>) },
        };
        // SAFETY: the schema, the ends and the files live for the call, the reader until it is released.
        Dataset::made(|out, error| unsafe { sys::dl_dataset_from_reader(&table, options, out, error) })
    })
}

unsafe extern "C" fn read<S: Source>(context: *mut c_void, request: *mut sys::dl_reader_request) -> i32 {
    let whole = AssertUnwindSafe(|| {
        // SAFETY: the borrowed reader, which nothing changes or drops before the rows that borrow from it are made.
        let reader = unsafe { &*context.cast::<Reader<S>>() };
        let mut request = match NonNull::new(request) {
            Some(request) => request,
            None => return 1,
        };
        // SAFETY: the library owns it and keeps it for this call.
        let (count, indices) = unsafe { (request.as_ref().record_count, request.as_ref().indices) };
        // SAFETY: this call's request, for records of these fields.
        let mut record = unsafe { Record::new(&reader.fields, request) };
        for at in 0..usize::try_from(count).unwrap_or(0) {
            if record.cancelled() {
                break;
            }
            record.begin(at);
            // SAFETY: there is an index for each record.
            let index = unsafe { *indices.add(at) };
            if let Err(text) = read_one(reader, index, &mut record) {
                record.fail();
                // SAFETY: the room for one text, of the record's own.
                unsafe { tell(&text, request.as_ref(), at) };
            }
        }
        let cancelled = record.cancelled();
        let kept = record.into_kept();
        if !kept.is_empty() {
            // SAFETY: the record is gone, and with it what looked at the request.
            let request = unsafe { request.as_mut() };
            request.release_context = Box::into_raw(Box::new(kept)).cast();
            request.release = Some(give_back::<Vec<Kept>>);
        }
        i32::from(cancelled)
    });
    match catch_unwind(whole) {
        Ok(code) => code,
        Err(thrown) => {
            std::mem::forget(thrown);
            1
        }
    }
}

unsafe extern "C" fn advise<S: Source>(context: *mut c_void, block: i64) {
    let told = AssertUnwindSafe(|| {
        // SAFETY: the borrowed reader, as in `read`.
        let reader = unsafe { &*context.cast::<Reader<S>>() };
        if let Ok(block) = usize::try_from(block) {
            reader.source.advise(block);
        }
    });
    if let Err(thrown) = catch_unwind(told) {
        std::mem::forget(thrown); // the block is opened when it is read
    }
}

fn read_one<'s, S: Source>(
    reader: &'s Reader<S>,
    index: i64,
    record: &mut Record<'s>,
) -> std::result::Result<(), String> {
    let attempt = AssertUnwindSafe(|| {
        reader.source.read(usize::try_from(index)?, record)?;
        record.finished()
    });
    match catch_unwind(attempt) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(thrown) => Err(panic_text(thrown)),
    }
}

/// # Safety
/// `request` has more than `at` records.
unsafe fn tell(text: &str, request: &sys::dl_reader_request, at: usize) {
    let room = usize::try_from(request.message_bytes).unwrap_or(0);
    if request.messages.is_null() || room == 0 {
        return;
    }
    let bytes = &text.as_bytes()[..text.len().min(room - 1)];
    // SAFETY: the room of the record's text; one byte is left for the NUL.
    unsafe {
        let message = request.messages.add(at * room);
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), message, bytes.len());
        *message.add(bytes.len()) = 0;
    }
}
