// A handle for the host's event loop: readable while raised. An eventfd on Linux.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/status.h"

namespace dataline {

class ThreadEvent {
 public:
  static Result<ThreadEvent> create();  // kTooManyFiles, kUnsupported
  ThreadEvent(ThreadEvent&& other) noexcept : handle_(other.handle_) { other.handle_ = -1; }
  ThreadEvent& operator=(ThreadEvent&&) = delete;
  ~ThreadEvent();

  intptr_t handle() const { return handle_; }
  void raise() const;  // stays readable until lowered
  void lower() const;

 private:
  explicit ThreadEvent(int handle) : handle_(handle) {}
  int handle_;
};

}  // namespace dataline
