// Launcher: which process of a job this one is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

#ifndef _WIN32
extern "C" char** environ;  // named by POSIX, but not declared in a header everywhere
#endif

namespace dataline {
inline namespace DATALINE_CPP_ABI {

namespace detail {
// The environment of the process. The library does not read it.
inline const char* const* environment() noexcept {
#ifdef _WIN32
  return _environ;
#else
  return environ;
#endif
}
}  // namespace detail

// The values of rank=auto and world_size=auto, and the local rank on this machine, for choosing a device. -1: the
// launcher does not report it.
struct Launcher {
  std::string family;  // "torchrun", "openmpi", "slurm", ... (dl_launcher); "none": process 0 of 1
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = 0;
  int64_t local_world_size = 1;
};

// Reads the environment now. DL_ERR_INVALID_ARGUMENT names variables that are not ranks, are incomplete, or
// contradict each other.
inline Result<Launcher> try_launcher() {
  dl_launcher found = {};
  found.struct_size = sizeof found;
  const Result<void> done = detail::result_of(
      [&](dl_error* error) { return dl_launcher_detect(detail::environment(), &found, error); });
  if (!done) return done.error();
  return Launcher{found.family, found.rank, found.world_size, found.local_rank, found.local_world_size};
}
inline Launcher launcher() { return try_launcher().value(); }

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
