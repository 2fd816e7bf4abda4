//! Finds libdataline and tells cargo how to link it. In this order:
//!
//! 1. `DATALINE_LIB_DIR`: a folder that holds `libdataline.so` or `libdataline.a` (a build folder's `lib`, or an
//!    installed one). `DATALINE_INCLUDE_DIR` names the header's folder where it is not found beside.
//! 2. `pkg-config dataline`, version 0.1.x; skipped when `DATALINE_NO_PKG_CONFIG` is set.
//! 3. The enclosing checkout: built with CMake, static.
//!
//! `DATALINE_STATIC=1` or the feature `static` asks for the archive in 1 and 2, `DATALINE_STATIC=0` for the shared
//! library. On docs.rs nothing is linked.
//!
//! SPDX-License-Identifier: Apache-2.0
#[path = "native.rs"]
mod native;

use native::{Found, Kind};
use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=native.rs");
    for name in
        ["DATALINE_LIB_DIR", "DATALINE_INCLUDE_DIR", "DATALINE_NO_PKG_CONFIG", "DATALINE_STATIC", "DOCS_RS"]
    {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    match find() {
        Ok(found) => tell(&found),
        Err(reason) => {
            eprintln!("dataline-sys: {reason}");
            std::process::exit(1);
        }
    }
}

fn find() -> Result<Found, String> {
    let wanted = match env::var("DATALINE_STATIC").as_deref() {
        Ok("1") => Some(Kind::Static),
        Ok("0") => Some(Kind::Shared),
        Ok(other) => return Err(format!("DATALINE_STATIC: expected 0 or 1, got \"{other}\"")),
        Err(_) if env::var_os("CARGO_FEATURE_STATIC").is_some() => Some(Kind::Static),
        Err(_) => None,
    };
    if let Some(folder) = env::var_os("DATALINE_LIB_DIR") {
        return native::in_folder(&PathBuf::from(folder), wanted);
    }
    let mut tried = String::new();
    if env::var_os("DATALINE_NO_PKG_CONFIG").is_none() {
        match native::by_pkg_config(wanted) {
            Ok(found) => return Ok(found),
            Err(reason) => tried = format!("; {reason}"),
        }
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    match native::checkout_above(&here) {
        Some(root) => native::build_checkout(&root, &PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?)),
        None => Err(format!(
            "libdataline was not found: set DATALINE_LIB_DIR to the folder that holds libdataline.so or libdataline.a, \
             or install it so that pkg-config knows it{tried}"
        )),
    }
}

fn tell(found: &Found) {
    for folder in &found.folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    let kind = if found.kind == Kind::Static { "static" } else { "dylib" };
    println!("cargo:rustc-link-lib={kind}=dataline");
    for name in &found.others {
        println!("cargo:rustc-link-lib=dylib={name}");
    }
    if let Some(include) = &found.include {
        println!("cargo:include={}", include.display()); // DEP_DATALINE_INCLUDE of crates that depend on this one
        println!("cargo:rustc-env=DATALINE_HEADER_DIR={}", include.display()); // for the layout test
    }
}
