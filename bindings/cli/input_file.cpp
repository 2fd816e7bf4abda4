// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/input_file.h"

#include <cerrno>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {

InputFile::InputFile(const std::string& path, const Interrupts& interrupts)
    : path_(path), interrupts_(interrupts) {
  while ((descriptor_ = open_to_read(path)) < 0) {
    if (errno != EINTR) throw system_failure(path, errno);
    if (interrupts.came()) throw Interrupted{interrupts.signal()};
  }
}

InputFile::~InputFile() { close_file(descriptor_); }

size_t InputFile::read(void* data, size_t bytes) {
  for (;;) {
    const int64_t count = read_some(descriptor_, data, bytes);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) throw system_failure(path_, errno);
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
  }
}

}  // namespace dataline::cli
