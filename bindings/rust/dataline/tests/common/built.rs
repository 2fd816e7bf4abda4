//! Files that are built with the library and not installed.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::path::{Path, PathBuf};

/// The one of that name beside the library that the tests use, or in this checkout's release build.
pub fn built(name: &str) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build/release/lib");
    let folders = std::env::var_os("DATALINE_LIB_DIR").map(PathBuf::from).into_iter().chain([checkout]);
    folders.map(|folder| folder.join(name)).find(|file| file.exists())
}
