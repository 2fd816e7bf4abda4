//! Finds an installed libdataline, and the libraries that must be linked with it.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Shared,
    Static,
}

pub struct Found {
    pub kind: Kind,
    pub folders: Vec<PathBuf>,
    /// Names of other libraries that a static library needs.
    pub others: Vec<String>,
    pub include: Option<PathBuf>,
}

const SHARED: &str = if cfg!(target_os = "macos") { "libdataline.dylib" } else { "libdataline.so" };

pub fn in_folder(folder: &Path, wanted: Option<Kind>) -> Result<Found, String> {
    let archive = folder.join("libdataline.a").is_file();
    let shared = folder.join(SHARED).is_file();
    let kind = match wanted {
        Some(Kind::Static) if archive => Kind::Static,
        Some(Kind::Shared) | None if shared => Kind::Shared,
        None if archive => Kind::Static,
        Some(Kind::Static) => {
            return Err(format!("{}: expected libdataline.a in this folder", folder.display()))
        }
        _ => return Err(format!("{}: expected {SHARED} or libdataline.a in this folder", folder.display())),
    };
    println!("cargo:rerun-if-changed={}", folder.join(SHARED).display());
    println!("cargo:rerun-if-changed={}", folder.join("libdataline.a").display());
    let others = if kind == Kind::Static { private_libraries(folder) } else { Vec::new() };
    Ok(Found { kind, folders: vec![folder.to_owned()], others, include: include_near(folder) })
}

/// A folder of links to the shared library, inside cargo's own folder. `cargo run` and `cargo test` make the
/// dynamic linker search only such folders, so these programs start without `LD_LIBRARY_PATH`, wherever the
/// library is. A build script cannot set the rpath of programs that depend on its crate.
pub fn for_cargo_run(found: &Found) -> Option<PathBuf> {
    let links = PathBuf::from(env::var_os("OUT_DIR")?).join("library");
    let folder = found.folders.iter().find(|folder| folder.join(SHARED).is_file())?;
    let _ = fs::remove_dir_all(&links);
    fs::create_dir_all(&links).ok()?;
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let name = entry.file_name();
        if is_shared(&name.to_string_lossy()) {
            link(&fs::canonicalize(entry.path()).ok()?, &links.join(&name)).ok()?;
        }
    }
    Some(links)
}

/// Whether it is `libdataline.so`, `libdataline.so.2` or similar, and not a plug-in.
fn is_shared(name: &str) -> bool {
    name.starts_with("libdataline.so") || (name.starts_with("libdataline.") && name.ends_with(".dylib"))
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to).map(drop)
}

/// Searches the system's folders, for machines without pkg-config. The header beside the library must have
/// this version.
pub fn in_system(wanted: Option<Kind>) -> Option<Found> {
    if env::var_os("HOST") != env::var_os("TARGET") {
        return None; // those folders belong to the host
    }
    let multiarch = format!("/usr/lib/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default());
    let folders = ["/usr/local/lib", &multiarch, "/usr/lib64", "/usr/lib"];
    folders.iter().find_map(|folder| {
        let found = in_folder(Path::new(folder), wanted).ok()?;
        let header = fs::read_to_string(found.include.as_ref()?.join("dataline.h")).ok()?;
        let is = |part: &str, number: &str| {
            let words = header.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            words.filter(|words| words.len() > 2).any(|words| words[1] == part && words[2] == number)
        };
        let wanted = is("DL_VERSION_MAJOR", env!("CARGO_PKG_VERSION_MAJOR"))
            && is("DL_VERSION_MINOR", env!("CARGO_PKG_VERSION_MINOR"));
        wanted.then_some(found)
    })
}

/// The folder of `dataline.h`: as set, beside an installed library, or in the checkout above a build folder.
fn include_near(folder: &Path) -> Option<PathBuf> {
    let told = env::var_os("DATALINE_INCLUDE_DIR").map(PathBuf::from);
    let installed = folder.ancestors().skip(1).take(2).map(|at| at.join("include"));
    let checkouts = folder.ancestors().map(|at| at.join("capi"));
    told.into_iter().chain(installed).chain(checkouts).find(|at| at.join("dataline.h").is_file())
}

/// `Libs.private` of the `dataline-link.pc` that was written with the archive.
fn private_libraries(folder: &Path) -> Vec<String> {
    let places = [folder.join("pkgconfig/dataline-link.pc"), folder.join("../capi/dataline-link.pc")];
    let text = places.iter().find_map(|place| fs::read_to_string(place).ok()).unwrap_or_default();
    let line =
        text.lines().find_map(|line| line.strip_prefix("Libs.private:")).unwrap_or("-lstdc++ -lm -ldl");
    library_names(line)
}

fn library_names(flags: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for flag in flags.split_whitespace() {
        let name = if flag == "-pthread" { "pthread" } else { flag.strip_prefix("-l").unwrap_or("") };
        if !name.is_empty() && name != "dataline" && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

pub fn by_pkg_config(wanted: Option<Kind>) -> Result<Found, String> {
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let kind = wanted.unwrap_or(Kind::Shared);
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let mut command = Command::new(&program);
    if kind == Kind::Static {
        command.arg("--static");
    }
    command.args(["--libs", "--cflags", "--keep-system-libs", "--keep-system-cflags"]);
    command.args(["dataline >= 0.2.0", "dataline < 0.3"]);
    let output = command.output().map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr)
            .lines()
            .next()
            .unwrap_or("pkg-config failed")
            .to_owned());
    }
    let flags = String::from_utf8_lossy(&output.stdout);
    let after = |mark: &str| -> Vec<PathBuf> {
        flags.split_whitespace().filter_map(|flag| flag.strip_prefix(mark).map(PathBuf::from)).collect()
    };
    let others = if kind == Kind::Static { library_names(&flags) } else { Vec::new() };
    let include = after("-I").into_iter().find(|at| at.join("dataline.h").is_file());
    Ok(Found { kind, folders: after("-L"), others, include })
}
