//! Finds libdataline, or builds it, and configures cargo to link it. In this order:
//!
//! 1. With the feature `vendored`: built from its sources (`sources.rs`), static.
//! 2. `DATALINE_LIB_DIR`: a folder that contains `libdataline.so` or `libdataline.a` (a build folder's `lib`, or an
//!    installed one). `DATALINE_INCLUDE_DIR` is the header's folder, if it is not next to the library.
//! 3. `pkg-config dataline`, of the same version up to the patch; skipped if `DATALINE_NO_PKG_CONFIG` is set.
//! 4. The system's library folders; also skipped then.
//! 5. Built from its sources, static.
//!
//! `DATALINE_STATIC=1` or the feature `static` selects the static library in 2 to 4, `DATALINE_STATIC=0` the shared
//! library. On docs.rs nothing is built or linked.
//!
//! SPDX-License-Identifier: Apache-2.0
mod native;
mod sources;

use native::{Found, Kind};
use std::env;
use std::path::PathBuf;

fn main() {
    for file in ["build.rs", "native.rs", "sources.rs"] {
        println!("cargo:rerun-if-changed={file}");
    }
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
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return sources::build(&sources::root()?);
    }
    if let Some(folder) = env::var_os("DATALINE_LIB_DIR") {
        return native::in_folder(&PathBuf::from(folder), wanted);
    }
    let mut tried = String::new();
    if env::var_os("DATALINE_NO_PKG_CONFIG").is_none() {
        match native::by_pkg_config(wanted) {
            Ok(found) => return Ok(found),
            Err(reason) => tried = format!("; {reason}"),
        }
        if let Some(found) = native::in_system(wanted) {
            return Ok(found);
        }
    }
    let root = sources::root().map_err(|reason| {
        format!(
            "libdataline was not found: set DATALINE_LIB_DIR to the folder of libdataline.so or libdataline.a, \
             or install it so that pkg-config finds it{tried}; {reason}"
        )
    })?;
    sources::build(&root)
}

/// How to link, and, for the build scripts of crates that depend on this one, `DEP_DATALINE_LIB`, `DEP_DATALINE_KIND`
/// (`static` or `dylib`) and `DEP_DATALINE_INCLUDE`.
fn tell(found: &Found) {
    if found.kind == Kind::Shared {
        if let Some(folder) = native::for_cargo_run(found) {
            println!("cargo:rustc-link-search=native={}", folder.display());
        }
    }
    for folder in &found.folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    let kind = if found.kind == Kind::Static { "static" } else { "dylib" };
    println!("cargo:rustc-link-lib={kind}=dataline");
    println!("cargo:kind={kind}");
    if let Some(folder) = found.folders.first() {
        println!("cargo:lib={}", folder.display());
    }
    for name in &found.others {
        println!("cargo:rustc-link-lib=dylib={name}");
    }
    if let Some(include) = &found.include {
        println!("cargo:include={}", include.display());
        println!("cargo:rustc-env=DATALINE_HEADER_DIR={}", include.display()); // for the layout test
    }
}
