//! Builds libdataline from its sources, with CMake, as a static library. The sources are those packed with
//! this crate (`vendor`, which `bindings/rust/package.sh` fills), or else the checkout that contains this
//! crate. CMake is called directly: crates that wrap it build the target `install`, which is both libraries,
//! and would be the only dependency.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::native::{self, Found, Kind};
use std::collections::VecDeque;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the sources.
pub fn root() -> Result<PathBuf, String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    let places = [Some(here.join("vendor")), here.ancestors().nth(3).map(Path::to_owned)];
    let mut there = places.into_iter().flatten().filter(|root| root.join("capi/dataline.h").is_file());
    there.next().ok_or_else(|| {
        "the library's sources are neither in this crate nor in a checkout around it".to_owned()
    })
}

/// Builds only the static library. CMake's own variables (CMAKE_CXX_COMPILER_LAUNCHER, CMAKE_GENERATOR, CXX)
/// apply as usual. CMAKE_ARGS contains further arguments, separated by spaces. Uses Ninja if it is installed:
/// CMake's default is make, which may be missing.
pub fn build(root: &Path) -> Result<Found, String> {
    for part in ["core", "capi", "CMakeLists.txt"] {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
    }
    println!("cargo:rerun-if-env-changed=CMAKE_ARGS");
    let build = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?).join("native");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root).arg("-B").arg(&build);
    // As the library is measured; -O3 takes a quarter longer to compile.
    configure.args(["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]);
    for part in ["TESTS", "EXAMPLES", "CLI", "BENCH"] {
        configure.arg(format!("-DDATALINE_{part}=OFF"));
    }
    let highway = root.join("highway");
    if highway.is_dir() {
        configure.arg(format!("-DDATALINE_HIGHWAY_INCLUDE={}", highway.display()));
    }
    let configured = build.join("CMakeCache.txt").is_file();
    if !configured && env::var_os("CMAKE_GENERATOR").is_none() && runs("ninja") {
        configure.args(["-G", "Ninja"]);
    }
    configure.args(env::var("CMAKE_ARGS").unwrap_or_default().split_whitespace());
    if !runs("cmake") {
        return Err("libdataline is not installed. To build it from its sources, install cmake and a C++20 compiler \
                    (Debian, Ubuntu: apt-get install cmake g++ ninja-build). Or set DATALINE_LIB_DIR to the folder \
                    of a built library"
            .to_owned());
    }
    run(&mut configure)?;
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".to_owned());
    run(Command::new("cmake").arg("--build").arg(&build).args(["--target", "dataline_static", "-j", &jobs]))?;
    let found = native::in_folder(&build.join("lib"), Some(Kind::Static))?;
    Ok(Found { include: Some(root.join("capi")), ..found })
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().map_or(false, |output| output.status.success())
}

/// Prints the command's output line by line, which `cargo build -vv` shows immediately. Missing optional
/// parts of the library become a warning.
fn run(command: &mut Command) -> Result<(), String> {
    println!("dataline-sys: {command:?}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("cmake: {error}"))?;
    let mut last = VecDeque::new();
    for line in BufReader::new(child.stdout.take().expect("it is a pipe")).split(b'\n') {
        let line = String::from_utf8_lossy(&line.map_err(|error| error.to_string())?).into_owned();
        match line.find("Dataline is built without ") {
            Some(at) => println!("cargo:warning={}", &line[at..]),
            None => println!("{line}"),
        }
        last.push_back(line);
        if last.len() > 30 {
            last.pop_front();
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let end = Vec::from(last).join("\n");
    Err(format!("{command:?} ended with {status}; its last lines:\n{end}"))
}
