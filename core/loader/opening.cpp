// SPDX-License-Identifier: Apache-2.0
#include "core/loader/opening.h"

#include <utility>

namespace dataline {

DatasetOpening::DatasetOpening(std::string uri, const Options& options)
    : uri_(std::move(uri)), options_(options), cancel_(std::make_shared<CancelToken>(options.cancel)) {
  options_.cancel = cancel_;
}

Result<std::unique_ptr<DatasetOpening>> DatasetOpening::start(std::string uri, const Options& options) {
  std::unique_ptr<DatasetOpening> opening(new DatasetOpening(std::move(uri), options));
  Result<Thread> thread = Thread::start("dl-open", [self = opening.get()] { self->run(); });
  if (!thread.is_ok()) return thread.take_status().in(concat(opening->uri_, ": the thread that opens it"));
  opening->thread_ = thread.take();
  return opening;
}

DatasetOpening::~DatasetOpening() {
  if (fork_guard_.forked()) {
    thread_.forget();  // the parent's
    return;
  }
  cancel();
  thread_.join();
}

void DatasetOpening::run() noexcept {
  std::exception_ptr thrown;
  Status failure;
  try {
    failure = open();
  } catch (...) {  // out of memory
    thrown = std::current_exception();
  }
  {
    ThreadLock lock(mutex_);
    failure_ = std::move(failure);
    thrown_ = std::move(thrown);
    done_.store(true);
    if (event_) event_->raise();
  }
  finished_.notify_all();
}

Status DatasetOpening::open() {
  DL_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, Dataset::open(uri_, options_, progress_));
  ThreadLock lock(mutex_);
  dataset_ = std::move(dataset);
  return Status::ok();
}

Status DatasetOpening::wait(int64_t timeout_ns, std::unique_ptr<Dataset>* out) {
  if (fork_guard_.forked())
    return error(Code::kForked, uri_, ": is being opened by the parent process; open it here");
  const int64_t deadline_ns = timeout_ns == 0 ? 0 : deadline_after(timeout_ns);
  if (!finished_.wait(deadline_ns, [this] { return done(); })) return {Code::kTimeout, ""};
  ThreadLock lock(mutex_);
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (!failure_.is_ok()) return failure_;
  if (dataset_ == nullptr) return error(Code::kWrongState, uri_, ": the dataset was already returned");
  *out = std::move(dataset_);
  return Status::ok();
}

Result<intptr_t> DatasetOpening::wait_handle() {
  if (fork_guard_.forked()) return error(Code::kForked, uri_, ": is being opened by the parent process");
  ThreadLock lock(mutex_);
  if (!event_) {
    DL_ASSIGN_OR_RETURN(ThreadEvent event, ThreadEvent::create());
    event_.emplace(std::move(event));
    if (done()) event_->raise();
  }
  return event_->handle();
}

}  // namespace dataline
