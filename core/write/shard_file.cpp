// SPDX-License-Identifier: Apache-2.0
#include "core/write/shard_file.h"

#include <algorithm>
#include <array>

#include "core/base/simd.h"

namespace dataline {
namespace {

// Where system calls of this size cost nothing beside the copy.
constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

ShardFile::ShardFile(AtomicFile file) : file_(std::move(file)), checksum_(best_simd_target()) {
  buffer_.reserve(kBufferBytes);
}

Result<ShardFile> ShardFile::create(const std::string& path) {
  DL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  return ShardFile(std::move(file));
}

Status ShardFile::write(Bytes bytes) {
  crc_ = checksum_.extend(crc_, bytes.data(), static_cast<int64_t>(bytes.size()));
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes.size() > kBufferBytes - buffer_.size()) DL_RETURN_IF_ERROR(flush());
  if (bytes.size() >= kBufferBytes) return file_.write(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return Status::ok();
}

Status ShardFile::zeros(int64_t count) {
  static constexpr std::array<std::byte, 1024> kZeros = {};
  for (; count > 0; count -= static_cast<int64_t>(kZeros.size())) {
    const auto some = std::min(static_cast<size_t>(count), kZeros.size());
    DL_RETURN_IF_ERROR(write(Bytes(kZeros).first(some)));
  }
  return Status::ok();
}

Status ShardFile::reserve_start(int64_t bytes) {
  DL_RETURN_IF_ERROR(zeros(bytes));
  reserved_bytes_ = bytes;
  crc_ = 0;
  return Status::ok();
}

Status ShardFile::write_start(Bytes bytes) {
  DL_RETURN_IF_ERROR(flush());
  crc_ = join_crc32c(checksum_.of(bytes), crc_, bytes_ - reserved_bytes_);
  return file_.rewrite_start(bytes);
}

Status ShardFile::flush() {
  DL_RETURN_IF_ERROR(file_.write(buffer_));
  buffer_.clear();
  return Status::ok();
}

Status ShardFile::commit() {
  DL_RETURN_IF_ERROR(flush());
  return file_.commit();
}

}  // namespace dataline
