// Opening a dataset on a thread of its own: the caller asks how far it is, waits for it, or ends it.
//
// Threads: every function may be called from several threads at once; destroyed when no call is in progress.
// Lifetime: the destructor cancels and waits until the thread has noticed, which it looks for between files, members and
// pieces of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "core/base/atomic.h"
#include "core/base/cancel.h"
#include "core/base/open_progress.h"
#include "core/base/thread.h"
#include "core/base/thread_mutex.h"
#include "core/base/thread_wait.h"
#include "core/loader/dataset.h"
#include "core/loader/options.h"
#include "core/memory/pages.h"

namespace dataline {

class DatasetOpening {
 public:
  // kThread: nothing was begun.
  static Result<std::unique_ptr<DatasetOpening>> start(std::string uri, const Options& options);
  ~DatasetOpening();

  // kOk: *out is the dataset, which goes out once: kWrongState after that. kTimeout: not open yet (timeout_ns < 0: waits
  // without limit, 0: does not wait). kForked. Else why it could not be opened, at every call; std::bad_alloc.
  Status wait(int64_t timeout_ns, std::unique_ptr<Dataset>* out) DL_EXCLUDES(mutex_);
  // Readable once wait() would not wait; made at the first call, and lives as long as this. kTooManyFiles, kUnsupported.
  Result<intptr_t> wait_handle() DL_EXCLUDES(mutex_);
  bool done() const { return done_.load(); }
  OpenProgress::Numbers progress() const { return progress_->numbers(); }
  void cancel() noexcept { cancel_->cancel(); }

 private:
  DatasetOpening(std::string uri, const Options& options);
  void run() noexcept DL_EXCLUDES(mutex_);
  Status open() DL_EXCLUDES(mutex_);

  const ForkGuard fork_guard_;
  const std::string uri_;
  Options options_;
  const CancelTokenRef cancel_;  // cancelled by that of the options, too
  const std::shared_ptr<OpenProgress> progress_ = std::make_shared<OpenProgress>();
  Thread thread_;

  Atomic<bool> done_{false};
  WaitPoint finished_;
  ThreadMutex mutex_;
  std::optional<ThreadEvent> event_ DL_GUARDED_BY(mutex_);
  // How it ended: one of the three, or null when the dataset has gone out.
  std::unique_ptr<Dataset> dataset_ DL_GUARDED_BY(mutex_);
  Status failure_ DL_GUARDED_BY(mutex_);
  std::exception_ptr thrown_ DL_GUARDED_BY(mutex_);
};

}  // namespace dataline
