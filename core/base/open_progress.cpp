// SPDX-License-Identifier: Apache-2.0
#include "core/base/open_progress.h"

#include "core/base/status.h"
#include "core/base/thread.h"

namespace dataline {
namespace {

constexpr int64_t kLineNs = 500'000'000;
constexpr int64_t kLineFiles = 256;
constexpr int64_t kLineBytes = 64 << 20;

}  // namespace

OpenProgress::OpenProgress() : told_ns_(monotonic_ns()) {}

// What is done is read before what is to be done, which was counted first: it is never less.
OpenProgress::Numbers OpenProgress::numbers() const {
  Numbers numbers;
  numbers.files = files_.load();
  numbers.bytes = bytes_.load();
  numbers.entries = entries_.load();
  numbers.total_files = total_files_.load();
  numbers.total_bytes = total_bytes_.load();
  return numbers;
}

bool OpenProgress::line_due() {
  const Numbers now = numbers();
  const int64_t now_ns = monotonic_ns();
  if (now_ns - told_ns_ < kLineNs && now.files - told_.files < kLineFiles &&
      now.bytes - told_.bytes < kLineBytes)
    return false;
  told_ = now;
  told_ns_ = now_ns;
  return true;
}

std::string OpenProgress::text() const {
  const Numbers now = numbers();
  std::string text;
  const auto add = [&](const auto&... parts) { text += concat(text.empty() ? "" : ", ", parts...); };
  if (now.total_files > 1) add(now.files, " of ", now.total_files, " files");
  if (now.entries > 0) add(now.entries, " entries");
  if (now.total_bytes > 0) add(now.bytes, " of ", now.total_bytes, " bytes");
  return text.empty() ? "begun" : text;
}

}  // namespace dataline
