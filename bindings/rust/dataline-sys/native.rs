//! Where libdataline is, and what has to be linked with it.
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
    /// Other libraries by name: what a static one needs.
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
        Some(Kind::Static) => return Err(format!("{}: expected libdataline.a there", folder.display())),
        _ => return Err(format!("{}: expected {SHARED} or libdataline.a there", folder.display())),
    };
    println!("cargo:rerun-if-changed={}", folder.join(SHARED).display());
    println!("cargo:rerun-if-changed={}", folder.join("libdataline.a").display());
    let others = if kind == Kind::Static { private_libraries(folder) } else { Vec::new() };
    Ok(Found { kind, folders: vec![folder.to_owned()], others, include: include_near(folder) })
}

/// The folder of `dataline.h`: as told, beside an installed library, or in the checkout above a build folder.
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

/// The checkout of Dataline that `folder` is in.
pub fn checkout_above(folder: &Path) -> Option<PathBuf> {
    let root = folder.ancestors().nth(3)?;
    root.join("capi/dataline.h").is_file().then(|| root.to_owned())
}

/// Builds the archive in `out` and installs it there. CMake's own variables (CMAKE_CXX_COMPILER_LAUNCHER,
/// CMAKE_GENERATOR, CXX) hold as always; CMAKE_ARGS are further arguments, apart by spaces. Ninja where it is installed:
/// CMake itself would take make, which need not be there.
pub fn build_checkout(root: &Path, out: &Path) -> Result<Found, String> {
    for part in ["core", "capi", "CMakeLists.txt"] {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
    }
    println!("cargo:rerun-if-env-changed=CMAKE_ARGS");
    let build = out.join("native");
    let prefix = out.join("prefix");
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(root)
        .arg("-B")
        .arg(&build)
        .args(["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib"]);
    configure.arg(format!("-DCMAKE_INSTALL_PREFIX={}", prefix.display()));
    for part in ["TESTS", "EXAMPLES", "CLI", "BENCH"] {
        configure.arg(format!("-DDATALINE_{part}=OFF"));
    }
    let configured = build.join("CMakeCache.txt").is_file();
    if !configured && env::var_os("CMAKE_GENERATOR").is_none() && has_ninja() {
        configure.args(["-G", "Ninja"]);
    }
    configure.args(env::var("CMAKE_ARGS").unwrap_or_default().split_whitespace());
    run(&mut configure)?;
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".to_owned());
    run(Command::new("cmake").arg("--build").arg(&build).args(["-j", &jobs]))?;
    run(Command::new("cmake").arg("--install").arg(&build))?;
    in_folder(&prefix.join("lib"), Some(Kind::Static))
}

fn has_ninja() -> bool {
    Command::new("ninja").arg("--version").output().map_or(false, |output| output.status.success())
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text =
        [output.stdout, output.stderr].map(|part| String::from_utf8_lossy(&part).into_owned()).concat();
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(30)..].join("\n");
    Err(format!("{command:?} ended with {}; its last lines:\n{end}", output.status))
}
