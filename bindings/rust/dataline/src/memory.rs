//! Memory of the host for the library's allocations.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::no_panic;
use dataline_sys as sys;
use std::alloc::{GlobalAlloc, Layout};
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr;

/// The purpose of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Descriptions.
    Metadata,
    /// Orders, indices, weights.
    Table,
    /// The batch slots: one block per loader, 2 MiB aligned.
    Arena,
    /// Datasets held in memory, 2 MiB aligned.
    Data,
    /// A batch beyond `max_leases`.
    Overflow,
    /// Address space that is touched only as needed, 2 MiB aligned: images being decoded (one block per
    /// worker), rows without a fixed size (one block per loader).
    Frames,
    /// A number that this release of the crate does not know.
    Other(i32),
}

impl MemoryKind {
    fn from_number(number: i32) -> MemoryKind {
        match number {
            sys::DL_MEMORY_METADATA => MemoryKind::Metadata,
            sys::DL_MEMORY_TABLE => MemoryKind::Table,
            sys::DL_MEMORY_ARENA => MemoryKind::Arena,
            sys::DL_MEMORY_DATA => MemoryKind::Data,
            sys::DL_MEMORY_OVERFLOW => MemoryKind::Overflow,
            sys::DL_MEMORY_FRAMES => MemoryKind::Frames,
            other => MemoryKind::Other(other),
        }
    }
}

/// Memory for datasets and loaders: [`Options::allocator`](crate::Options::allocator). Every [`GlobalAlloc`]
/// implements it (`std::alloc::System`, or an allocator of another crate). Implement this trait yourself to
/// learn the purpose of each block.
///
/// # Safety
/// As for [`GlobalAlloc`]: `allocate` returns memory of that layout that nothing else uses until it is
/// released, or NULL. Called from any thread; must not call Dataline. A panic counts as NULL.
pub unsafe trait Allocator: Sync {
    /// Returns memory of this layout, not cleared, or NULL on failure. The call that needs it then fails with
    /// [`Code::NoMemory`](crate::Code::NoMemory).
    ///
    /// # Safety
    /// The layout has at least one byte.
    unsafe fn allocate(&self, layout: Layout, kind: MemoryKind) -> *mut u8;

    /// Frees the memory.
    ///
    /// # Safety
    /// `memory` comes from [`Allocator::allocate`] with this layout and kind, and is not used afterwards.
    unsafe fn release(&self, memory: *mut u8, layout: Layout, kind: MemoryKind);
}

// SAFETY: `GlobalAlloc` makes the same promises.
unsafe impl<A: GlobalAlloc + Sync> Allocator for A {
    unsafe fn allocate(&self, layout: Layout, _: MemoryKind) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.alloc(layout) }
    }

    unsafe fn release(&self, memory: *mut u8, layout: Layout, _: MemoryKind) {
        // SAFETY: the caller's promise.
        unsafe { self.dealloc(memory, layout) };
    }
}

pub(crate) fn table<A: Allocator>(allocator: &'static A) -> sys::dl_allocator {
    sys::dl_allocator {
        struct_size: size_of::<sys::dl_allocator>() as u32,
        reserved: 0,
        context: allocator as *const A as *mut c_void,
        allocate: Some(allocate::<A>),
        release: Some(release::<A>),
        destroy: None, // borrowed forever
    }
}

unsafe extern "C" fn allocate<A: Allocator>(
    context: *mut c_void,
    bytes: usize,
    alignment: usize,
    kind: i32,
) -> *mut c_void {
    let mut memory = ptr::null_mut::<u8>();
    no_panic(|| {
        if let Ok(layout) = Layout::from_size_align(bytes, alignment) {
            // SAFETY: the allocator that was borrowed permanently.
            memory = unsafe { (*context.cast::<A>()).allocate(layout, MemoryKind::from_number(kind)) };
        }
    });
    memory.cast()
}

unsafe extern "C" fn release<A: Allocator>(
    context: *mut c_void,
    memory: *mut c_void,
    bytes: usize,
    alignment: usize,
    kind: i32,
) {
    no_panic(|| {
        if let Ok(layout) = Layout::from_size_align(bytes, alignment) {
            // SAFETY: a block of `allocate`, with its layout.
            unsafe { (*context.cast::<A>()).release(memory.cast(), layout, MemoryKind::from_number(kind)) };
        }
    });
}
