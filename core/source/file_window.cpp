// SPDX-License-Identifier: Apache-2.0
#include "core/source/file_window.h"

#include <algorithm>

namespace dataline {

Result<const std::byte*> FileWindow::at(int64_t offset, int64_t bytes) {
  if (file_.io() == IoMode::kMemory) return file_.at(offset);
  if (offset < begin_ || offset + bytes > end_) {
    const bool near = offset >= begin_ && offset <= end_ + window_bytes_;
    window_bytes_ = near ? std::min(2 * window_bytes_, kMaxBytes) : std::max(window_bytes_ / 2, kMinBytes);
    const int64_t wanted = std::min(std::max(bytes, window_bytes_), file_.bytes() - offset);
    if (static_cast<int64_t>(buffer_.size()) < wanted) buffer_.resize(static_cast<size_t>(wanted));
    begin_ = end_ = 0;
    DL_RETURN_IF_ERROR(file_.read(offset, wanted, buffer_.data()));
    begin_ = offset;
    end_ = offset + wanted;
  }
  return buffer_.data() + (offset - begin_);
}

}  // namespace dataline
