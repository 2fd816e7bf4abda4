// Scratch that a row needs and the next one can use again, for as many rows as are made at the same time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dataline_audio {

template <typename T>
class Pool {
 public:
  class Lease {
   public:
    explicit Lease(Pool& pool) : pool_(pool), held_(pool.take()) {}
    ~Lease() { pool_.give(std::move(held_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *held_; }
    T* operator->() const { return held_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> held_;
  };

 private:
  std::unique_ptr<T> take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<T> out = std::move(free_.back());
        free_.pop_back();
        return out;
      }
      free_.reserve(free_.capacity() + 1);  // so that give() needs no memory
    }
    return std::make_unique<T>();
  }
  void give(std::unique_ptr<T> held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(held));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace dataline_audio
