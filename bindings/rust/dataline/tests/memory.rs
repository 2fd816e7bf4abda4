//! The host's allocator: what it is asked for, and that all of it comes back as it was given.
//!
//! SPDX-License-Identifier: Apache-2.0
#![warn(unsafe_op_in_unsafe_fn)]

mod common;

use common::numbers;
use dataline::{Allocator, Array, Code, Dataset, Loader, MemoryKind, Options};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;

/// Keeps a book of its blocks; refuses those of one kind.
struct Book {
    refused: Option<MemoryKind>,
    live: Mutex<HashMap<usize, (Layout, MemoryKind)>>,
    ever: Mutex<Vec<MemoryKind>>,
}

impl Book {
    fn refusing(refused: Option<MemoryKind>) -> &'static Book {
        Box::leak(Box::new(Book { refused, live: Mutex::default(), ever: Mutex::default() }))
    }

    fn kinds(&self) -> Vec<MemoryKind> {
        self.ever.lock().unwrap().clone()
    }
}

// SAFETY: memory of the system's allocator, passed on with its own layout.
unsafe impl Allocator for Book {
    unsafe fn allocate(&self, layout: Layout, kind: MemoryKind) -> *mut u8 {
        if self.refused == Some(kind) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { System.alloc(layout) };
        self.live.lock().unwrap().insert(memory as usize, (layout, kind));
        self.ever.lock().unwrap().push(kind);
        memory
    }

    unsafe fn release(&self, memory: *mut u8, layout: Layout, kind: MemoryKind) {
        let known = self.live.lock().unwrap().remove(&(memory as usize));
        assert_eq!(known, Some((layout, kind)), "given back as it was given");
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[test]
fn all_blocks_are_aligned_as_asked_and_come_back() {
    let book = Book::refusing(None);
    let options = Options::new().allocator(book).set("batch_size", 10).set("max_leases", 1);
    let values: Vec<i64> = (0..100).collect();
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[100], &values).unwrap()], &options).unwrap();
    let loader = Loader::new(&dataset, &options).unwrap();
    let held: Vec<_> = loader.epoch().take(3).map(Result::unwrap).collect(); // the later ones are copies
    let kinds = book.kinds();
    for kind in [MemoryKind::Arena, MemoryKind::Overflow] {
        assert!(kinds.contains(&kind), "{kind:?} is not in {kinds:?}");
    }
    for (address, (layout, kind)) in book.live.lock().unwrap().iter() {
        assert_eq!(address % layout.align(), 0);
        assert!(*kind != MemoryKind::Arena || layout.align() >= 2 << 20, "{layout:?}");
    }
    drop((loader, dataset, options));
    assert_eq!(held[2].view::<i64>("x").unwrap(), (20..30).collect::<Vec<_>>());
    assert!(!book.live.lock().unwrap().is_empty(), "batches are held");
    drop(held);
    assert_eq!(book.live.lock().unwrap().len(), 0);
}

#[test]
fn an_allocator_that_has_nothing_is_no_memory() {
    let book = Book::refusing(Some(MemoryKind::Arena));
    let error = Loader::new(&numbers(10), &Options::new().allocator(book)).unwrap_err();
    assert_eq!(error.code(), Code::NoMemory);
    assert_eq!(book.live.lock().unwrap().len(), 0);
}

#[test]
fn an_allocator_that_panics_is_no_memory() {
    struct Broken;
    // SAFETY: it gives nothing.
    unsafe impl Allocator for Broken {
        unsafe fn allocate(&self, _: Layout, _: MemoryKind) -> *mut u8 {
            panic!("on purpose")
        }
        unsafe fn release(&self, _: *mut u8, _: Layout, _: MemoryKind) {}
    }
    let error = Loader::new(&numbers(10), &Options::new().allocator(&Broken)).unwrap_err();
    assert_eq!(error.code(), Code::NoMemory);
}

#[test]
fn an_allocator_of_the_standard_library_serves() {
    let loader = Loader::new(&numbers(10), &Options::new().allocator(&System)).unwrap();
    assert_eq!(loader.epoch().next().unwrap().unwrap().len(), 10);
}
