// Standard output, in large writes. It knows which batches were written completely, so a saved state never counts a batch that
// the reader did not get.
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
    kClosed,       // the reader closed the pipe: not an error
    kInterrupted,  // by a signal, while the reader did not read
    kFailed,       // error() says why
  };
  struct Position {
    int64_t epoch = 0;
    int64_t step = 0;
  };

  explicit Output(const Interrupts& interrupts);

  // Appends bytes of the batch that end_batch() will close. Large pieces are written directly, small ones are buffered. Does
  // nothing unless the state is kOpen.
  void append(const void* data, size_t bytes);
  void append(std::string_view text) { append(text.data(), text.size()); }
  void end_batch(Position position);
  void flush();

  bool has_pending() const { return !buffer_.empty(); }
  State state() const { return state_; }
  int error() const { return error_; }
  int64_t bytes() const { return written_; }
  // The first batch that was not written completely, if any.
  std::optional<Position> first_unwritten() const;
  // Syncs a file, so that the data is on disk before a state that counts it. False on an error, which error() returns. Does
  // nothing for pipes.
  bool sync();

 private:
  void write_all(const char* data, size_t bytes);

  struct Mark {
    Position position;
    int64_t end = 0;  // offset in the stream of the end of the batch
  };
  const Interrupts& interrupts_;
  std::vector<char> buffer_;
  std::deque<Mark> marks_;  // batches with bytes in buffer_, also after the stream has failed
  int64_t appended_ = 0;
  int64_t written_ = 0;
  State state_ = State::kOpen;
  int error_ = 0;
};

// Writes a text to standard output. Throws Failure or Interrupted; a closed pipe is not an error.
void print(std::string_view text, const Interrupts& interrupts);

// Redirects standard output to this file, created or truncated. Throws Failure with its name, or Interrupted.
void write_standard_output_to(const std::string& path, const Interrupts& interrupts);

}  // namespace dataline::cli
