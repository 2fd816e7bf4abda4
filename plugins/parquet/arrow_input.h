// What Arrow reads from and allocates with: a file of the library's, and a pool of limited memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/api.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "group_cache.h"
#include "library.h"

namespace dataline_parquet {

// Closes what dl_file_open opened.
struct CloseFile {
  void operator()(dl_file* file) const { library.file_destroy(file); }
};
using FileRef = std::shared_ptr<dl_file>;

class LimitedPool final : public arrow::MemoryPool {
 public:
  explicit LimitedPool(int64_t limit) : limit_(limit) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    ARROW_RETURN_NOT_OK(take(size));
    arrow::Status status = under_->Allocate(size, alignment, out);
    if (!status.ok()) give(size);
    return status;
  }
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** pointer) override {
    ARROW_RETURN_NOT_OK(take(new_size));  // both exist for a moment
    arrow::Status status = under_->Reallocate(old_size, new_size, alignment, pointer);
    give(status.ok() ? old_size : new_size);
    return status;
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    under_->Free(buffer, size, alignment);
    give(size);
  }
  int64_t bytes_allocated() const override { return held_.load(std::memory_order_relaxed); }
  int64_t max_memory() const override { return most_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return count_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return under_->backend_name(); }
  // What was refused last, and what was held then; 0: nothing was.
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  int64_t refused_beside() const { return refused_beside_.load(std::memory_order_relaxed); }

 private:
  arrow::Status take(int64_t size) {
    const int64_t held = held_.load(std::memory_order_relaxed);
    if (size < 0 || size > limit_ - held) {
      refused_.store(size, std::memory_order_relaxed);
      refused_beside_.store(held, std::memory_order_relaxed);
      return arrow::Status::OutOfMemory("more than cache_bytes");
    }
    const int64_t now = held_.fetch_add(size, std::memory_order_relaxed) + size;
    if (now > most_.load(std::memory_order_relaxed)) most_.store(now, std::memory_order_relaxed);
    total_.fetch_add(size, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    return arrow::Status::OK();
  }
  void give(int64_t size) { held_.fetch_sub(size, std::memory_order_relaxed); }

  arrow::MemoryPool* const under_ = arrow::default_memory_pool();
  const int64_t limit_;
  std::atomic<int64_t> held_{0}, most_{0}, total_{0}, count_{0}, refused_{0}, refused_beside_{0};
};

// The file as Arrow reads it, for one call. What went wrong is kept beside: Arrow's errors have no room for it.
class Input final : public arrow::io::RandomAccessFile {
 public:
  Input(FileRef file, int64_t bytes, const int32_t* cancelled, arrow::MemoryPool* pool)
      : file_(std::move(file)), bytes_(bytes), cancelled_(cancelled), pool_(pool) {}
  ~Input() override = default;

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Seek(int64_t position) override {
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return bytes_; }
  arrow::Result<int64_t> Read(int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(at_, count, out));
    at_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> got, ReadAt(at_, count));
    at_ += got->size();
    return got;
  }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t count, void* out) override {
    if (position < 0 || count < 0 || position > bytes_)
      return arrow::Status::Invalid("a read outside of the file");
    count = std::min(count, bytes_ - position);
    if (is_set(cancelled_)) failed_ = failure(DL_CANCELLED, "cancelled");
    if (failed_) return arrow::Status::IOError(failed_.text);
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_read(file_.get(), position, count, out, cancelled_, &error);
    if (code == DL_OK) return count;
    failed_ = failure(code, code < 0 ? error.message : "cancelled");
    return arrow::Status::IOError(failed_.text);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t count) override {
    if (position < 0 || count < 0 || position > bytes_)
      return arrow::Status::Invalid("a read outside of the file");
    count = std::min(count, bytes_ - position);
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(count, pool_));
    ARROW_RETURN_NOT_OK(ReadAt(position, count, buffer->mutable_data()).status());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  const Failure& failed() const { return failed_; }

 private:
  const FileRef file_;
  const int64_t bytes_;
  const int32_t* const cancelled_;
  arrow::MemoryPool* const pool_;
  int64_t at_ = 0;
  bool closed_ = false;
  Failure failed_;
};

}  // namespace dataline_parquet
