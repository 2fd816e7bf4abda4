//! The structs of the header, all in one list, from which their layouts are taken too (hence the length).
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::check::{Layout, Member};
use crate::{dl_release, dl_status};
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{align_of, size_of, MaybeUninit};
use std::os::raw::{c_char, c_void};
use std::ptr::addr_of;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[repr(C)] pub struct $name {
            _data: [u8; 0],
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        })*
    };
}

handles! {
    /// Key-value settings of a dataset and of a loader.
    dl_options
    /// Samples by index; immutable.
    dl_dataset
    /// A job's stream of batches; owns threads, slots and position.
    dl_loader
    /// A lease on one batch; reference-counted; may outlive its loader.
    dl_batch
    /// Ends opens and waits from another thread.
    dl_cancel_token
}

/// `NULL` when there is no memory.
pub type dl_allocate = Option<
    unsafe extern "C" fn(context: *mut c_void, bytes: usize, alignment: usize, kind: i32) -> *mut c_void,
>;
pub type dl_release_memory = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        memory: *mut c_void,
        bytes: usize,
        alignment: usize,
        kind: i32,
    ),
>;
pub type dl_write =
    Option<unsafe extern "C" fn(context: *mut c_void, level: i32, message: *const c_char, length: usize)>;
pub type dl_read = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        indices: *const i64,
        count: i64,
        cells: *mut dl_reader_cell,
        message: *mut c_char,
        message_bytes: usize,
    ) -> i32,
>;

/// Bytes of the member behind a pointer that is never read.
fn bytes_behind<T>(_: *const T) -> usize {
    size_of::<T>()
}

macro_rules! structs {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$member_doc:meta])* $member:ident: $type:ty,)* })*) => {
        $($(#[$doc])* #[repr(C)] #[derive(Clone, Copy, Debug)] pub struct $name {
            $($(#[$member_doc])* pub $member: $type,)*
        }

        impl Default for $name {
            /// All bytes 0; where there is a `struct_size`, the caller sets it.
            fn default() -> Self {
                // SAFETY: integers, raw pointers and optional function pointers may all be 0.
                unsafe { MaybeUninit::zeroed().assume_init() }
            }
        })*

        /// The offset of each member.
        #[doc(hidden)]
        pub fn layouts() -> std::vec::Vec<Layout> {
            std::vec![$({
                let value = $name::default();
                let base = addr_of!(value) as usize;
                Layout {
                    name: stringify!($name),
                    bytes: size_of::<$name>(),
                    alignment: align_of::<$name>(),
                    members: std::vec![$(Member {
                        name: stringify!($member),
                        rust_type: stringify!($type),
                        offset: addr_of!(value.$member) as usize - base,
                        bytes: bytes_behind(addr_of!(value.$member)),
                    }),*],
                }
            }),*]
        }
    };
}

structs! {
    /// What went wrong: one line of text with file, offset, sample or option, expected and got.
    struct dl_error {
        struct_size: u32,
        code: dl_status,
        /// errno, or 0
        os_error: i32,
        /// 1-based place in a URI or transform text, or 0
        column: i32,
        /// The (first) sample concerned, or -1
        sample_index: i64,
        /// The dataset of a mix that it belongs to; 0
        sample_source: i64,
        /// NUL-terminated, one line of printable UTF-8, cut at the end when longer
        message: [c_char; 512],
    }

    /// Memory for the datasets and loaders created with it.
    struct dl_allocator {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        allocate: dl_allocate,
        release: dl_release_memory,
        /// Called once, when nothing needs the table any more; NULL is fine
        destroy: dl_release,
    }

    /// Remarks of the library.
    struct dl_log {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        write: dl_write,
        /// Called once, when nothing needs the table any more; NULL is fine
        destroy: dl_release,
    }

    /// An entry of the options table; the texts are never freed.
    struct dl_option_info {
        struct_size: u32,
        r#type: i32,
        scope: i32,
        /// Minimum and maximum count
        has_range: i32,
        minimum: i64,
        maximum: i64,
        key: *const c_char,
        /// As text; "" for none
        default_value: *const c_char,
        /// "keep|drop|pad", or ""
        choices: *const c_char,
        /// "bytes", "samples", ""
        unit: *const c_char,
        doc: *const c_char,
        since: *const c_char,
    }

    /// An operator of transforms.
    struct dl_transform_info {
        struct_size: u32,
        argument_count: i32,
        name: *const c_char,
        doc: *const c_char,
        /// The definition it follows
        source: *const c_char,
        since: *const c_char,
    }

    /// An argument of an operator.
    struct dl_argument_info {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        r#type: *const c_char,
        /// "": required
        default_value: *const c_char,
    }

    /// One tensor of a batch, or of a schema.
    struct dl_view {
        struct_size: u32,
        kind: i32,
        flags: u64,
        name: *const c_char,
        dtype: i32,
        rank: i32,
        /// `[rank]`; -1: unknown or varying (schemas only)
        shape: *const i64,
        /// `[rank]`, in elements; never NULL
        strides: *const i64,
        /// One letter a dim ("NHWC"), or "" when not known
        axes: *const c_char,
        device_type: i32,
        device_index: i32,
        /// 256-byte aligned for batches in slots; NULL in a schema
        data: *mut c_void,
        /// Of the first element from data
        byte_offset: u64,
        /// Ragged: `[samples + 1]`, host memory; else NULL
        offsets: *const i64,
        /// Of the data delivered (dense: product of shape; ragged: packed); -1 when varying
        bytes: i64,
        /// Zero
        reserved: [u64; 4],
    }

    /// A field in host memory.
    struct dl_array {
        struct_size: u32,
        kind: i32,
        name: *const c_char,
        dtype: i32,
        rank: i32,
        shape: *const i64,
        /// Of one sample: "HWC"; NULL when not known
        axes: *const c_char,
        data: *const c_void,
        row_stride_bytes: i64,
        offsets: *const i64,
        /// Ragged: entries in offsets, less one; dense: 0 or `shape[0]`
        sample_count: i64,
    }

    /// One field of one record that a reader fills.
    struct dl_reader_cell {
        /// Write at most capacity bytes here; 64-byte aligned
        data: *mut c_void,
        /// Dense: the field's bytes; ragged: max_bytes_per_sample
        capacity: i64,
        /// In: the field's bytes (dense) or 0; out, ragged: bytes written, whole items. More than capacity
        /// reports a sample that is too large (DL_ERR_TOO_LARGE)
        bytes: i64,
        /// Out: not 0 when this record is bad; any code of the host's
        status: i32,
        reserved: i32,
    }

    /// Records from the host's own code.
    struct dl_reader {
        struct_size: u32,
        field_count: i32,
        /// Read during the call only
        fields: *const dl_view,
        record_count: i64,
        context: *mut c_void,
        read: dl_read,
        destroy: dl_release,
        /// Text that identifies the data in a saved state; NULL for none
        fingerprint: *const c_char,
    }

    /// Counters of a loader since it was created.
    struct dl_stats {
        struct_size: u32,
        /// In use; 0: the caller's thread
        num_workers: i32,
        /// Delivered
        batches: i64,
        /// Delivered, without pads
        samples: i64,
        /// Delivered
        bytes: i64,
        /// Samples left out because they were bad
        skipped: i64,
        /// Slots left out by last_batch=drop
        dropped: i64,
        /// Rows added by last_batch=pad
        padded: i64,
        /// Rows filled with a replacement sample
        replaced: i64,
        /// Distinct bad samples seen
        bad: i64,
        /// Consumers waited in next; with num_workers=0 it is the loading
        wait_ns: i64,
        /// Calls of next that had to wait
        waits: i64,
        /// CPU time of worker threads; 0 with num_workers=0
        worker_cpu_ns: i64,
        /// The slots
        arena_bytes: i64,
        /// All host memory the loader holds now
        held_bytes: i64,
        /// The current limit
        budget_bytes: i64,
        /// Batches held by consumers now
        leases_held: i64,
        /// Batches delivered as a fresh allocation (lease_overflow=copy)
        lease_copies: i64,
        /// Loaded and waiting for next
        ready_batches: i64,
        /// Page-locked; 0 where that was refused
        pinned_bytes: i64,
        /// Workers left behind in a reader callback that never returned
        threads_abandoned: i64,
        /// Device memory the loader holds now
        device_bytes: i64,
        /// Sent over the bus to the device
        copied_bytes: i64,
        /// Images delivered though their decoder warned of damage (on_warning=accept)
        warned: i64,
    }

    /// What an encoded image says of itself.
    struct dl_image_info {
        struct_size: u32,
        /// DL_IMAGE_*
        format: i32,
        /// Pixels, as stored: before any Exif orientation
        width: i64,
        height: i64,
        /// As stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK)
        channels: i32,
        /// Of a channel
        bits: i32,
        /// Exif, 1 to 8; 1 where there is none
        orientation: i32,
        /// Or interlaced
        progressive: i32,
        /// Encoded
        bytes: i64,
    }

    /// A part of a sample's way and where it runs.
    struct dl_plan_stage {
        struct_size: u32,
        /// DL_DEVICE_CPU or DL_DEVICE_CUDA; of a copy, where it goes
        device_type: i32,
        /// Borrowed from the loader, as `text`
        field: *const c_char,
        /// "gather", "copy", or operators as written
        text: *const c_char,
        /// A sample; -1 varying
        bytes_in: i64,
        bytes_out: i64,
    }

    /// A bad sample found so far.
    struct dl_bad_sample {
        struct_size: u32,
        code: dl_status,
        source: i64,
        index: i64,
        /// Where it was first met
        epoch: i64,
        step: i64,
        slot: i64,
        /// The sample that stood in, or -1: skipped
        replacement: i64,
        message: [c_char; 256],
    }

    /// Place, size and samples of a batch.
    struct dl_batch_info {
        struct_size: u32,
        reserved: u32,
        epoch: i64,
        step: i64,
        /// Rows, pads included
        samples: i64,
        /// Rows that are not pads
        valid: i64,
        /// `[samples]`: which dataset of a mix; 0
        sample_sources: *const i64,
        /// `[samples]`: index in it; for replaced samples, of the replacement
        sample_indices: *const i64,
    }
}
