// Standard output.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/output.h"

#include <unistd.h>

#include <cerrno>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr int kMaxInterruptions = 1000;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kDirectBytes = size_t{1} << 17;  // from this size on a copy costs more than a system call

}  // namespace

Output::Output(const Interrupts& interrupts) : interrupts_(interrupts) { buffer_.reserve(kBufferBytes); }

void Output::append(const void* data, size_t bytes) {
  appended_ += static_cast<int64_t>(bytes);
  if (state_ != State::kOpen) return;
  const char* from = static_cast<const char*>(data);
  if (bytes >= kDirectBytes || buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes >= kDirectBytes) {
    write_all(from, bytes);
  } else if (state_ == State::kOpen) {
    buffer_.insert(buffer_.end(), from, from + bytes);
  }
}

void Output::end_batch(Position position) {
  while (!marks_.empty() && marks_.front().end <= written_) marks_.pop_front();
  marks_.push_back({position, appended_});
}

void Output::flush() {
  if (state_ == State::kOpen) write_all(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void Output::write_all(const char* data, size_t bytes) {
  int interruptions = 0;  // one after another: then it is an error, not a hang
  while (bytes > 0 && state_ == State::kOpen) {
    const int64_t count = write_some(STDOUT_FILENO, data, bytes);
    if (count >= 0) {
      data += count;
      bytes -= static_cast<size_t>(count);
      written_ += count;
      interruptions = 0;
    } else if (errno == EINTR && ++interruptions <= kMaxInterruptions) {
      if (interrupts_.overdue()) state_ = State::kInterrupted;
    } else if (errno == EAGAIN) {
      wait_for_output_reader();
      if (interrupts_.overdue()) state_ = State::kInterrupted;
    } else if (errno == EPIPE) {
      state_ = State::kClosed;
    } else {
      state_ = State::kFailed;
      error_ = errno;
    }
  }
}

std::optional<Output::Position> Output::first_unwritten() const {
  for (const Mark& mark : marks_) {
    if (mark.end > written_) return mark.position;
  }
  return std::nullopt;
}

bool Output::sync() {
  if (sync_data(STDOUT_FILENO)) return true;
  error_ = errno;
  return false;
}

void print(std::string_view text, const Interrupts& interrupts) {
  Output output(interrupts);
  output.append(text);
  output.flush();
  if (output.state() == Output::State::kInterrupted) throw Interrupted{interrupts.signal()};
  if (output.state() == Output::State::kFailed) throw system_failure("standard output", output.error());
}

void write_standard_output_to(const std::string& path, const Interrupts& interrupts) {
  int fd;
  while ((fd = open_to_replace(path)) < 0 && errno == EINTR) {
    if (interrupts.came()) throw Interrupted{interrupts.signal()};
  }
  if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) throw system_failure(path, errno);
  close_file(fd);
}

}  // namespace dataline::cli
