// A file of the command line that is read from its start to its end. It may be a pipe, and a pipe without a writer blocks.
// Threads: the main thread, whose blocked calls a signal ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Both functions throw Failure with the file's name, and Interrupted if a signal comes while they block.
class InputFile {
 public:
  InputFile(const std::string& path, const Interrupts& interrupts);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  size_t read(void* data, size_t bytes);  // 0: the end

 private:
  const std::string path_;
  const Interrupts& interrupts_;
  int descriptor_;
};

}  // namespace dataline::cli
