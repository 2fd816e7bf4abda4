// Standard output: large writes, and exact knowledge of which batches were written whole, so that a saved
// state never counts a batch that the reader did not get.
//
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/interrupts.h"

namespace dataline::cli {

class Output {
 public:
  enum class State {
    kOpen,
    kClosed,       // the reader went away: a quiet end
    kInterrupted,  // a signal came and the reader does not read
    kFailed,       // error() says why
  };
  struct Position {
    int64_t epoch = 0;
    int64_t step = 0;
  };

  explicit Output(const Interrupts& interrupts);

  // Bytes of the batch that end_batch() closes. Large pieces go out straight from where they lie; small ones
  // are put together first. After anything but kOpen they are dropped.
  void append(const void* data, size_t bytes);
  void append(std::string_view text) { append(text.data(), text.size()); }
  void end_batch(Position position);
  void flush();

  bool has_pending() const { return !buffer_.empty(); }
  State state() const { return state_; }
  int error() const { return error_; }
  int64_t bytes() const { return written_; }
  // The first batch that was not written whole; none when all were.
  std::optional<Position> first_unwritten() const;
  // Data on a disk before a state that counts it: false, with error(), when the disk refuses. Pipes need
  // nothing.
  bool sync();

 private:
  void write_all(const char* data, size_t bytes);
  void wait_for_reader();

  struct Mark {
    Position position;
    int64_t end = 0;  // bytes of the stream up to the batch's end
  };
  const Interrupts& interrupts_;
  std::vector<char> buffer_;
  std::deque<Mark> marks_;  // batches that have bytes in buffer_, or did when the stream broke
  int64_t appended_ = 0;
  int64_t written_ = 0;
  State state_ = State::kOpen;
  int error_ = 0;
};

// Writes a whole text to standard output. Throws Failure or Interrupted; a closed pipe is fine.
void print(std::string_view text, const Interrupts& interrupts);

// From now on standard output is this file, made or emptied. Throws Failure naming it.
void write_standard_output_to(const std::string& path);

// Descriptors 0, 1 and 2 that the caller left closed are opened on /dev/null in a mode that fails when used,
// so that no file of ours becomes standard output.
void hold_standard_descriptors();

}  // namespace dataline::cli
