// Opening: a dataset that a thread of the library is opening.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/calls.hpp>
#include <dataline/dataset.hpp>
#include <dataline/duration.hpp>
#include <dataline/error.hpp>
#include <dataline/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Any thread. The destructor cancels and waits until the thread has noticed. In a forked child calls return
// DL_ERR_FORKED. An unstable part of dataline.h: it may still change in a minor release.
//   dataline::Opening opening("folder:photos");
//   while (opening.wait(std::chrono::milliseconds(16)).status() == DL_TIMEOUT) draw(opening.progress());
class Opening : public detail::OpeningCalls<Opening> {
 public:
  Opening() noexcept = default;
  explicit Opening(dl_opening* taken) noexcept : opening_(taken) {}
  explicit operator bool() const noexcept { return opening_ != nullptr; }

  // Starts what Dataset(uri, options) does, and returns. DL_ERR_THREAD. wait reports errors in the URI or the
  // data.
  explicit Opening(const std::string& uri, const Options& options = {})
      : Opening(try_start(uri, options).value()) {}
  static Result<Opening> try_start(const std::string& uri, const Options& options = {}) {
    return detail::make<Opening, dl_opening>([&](dl_opening** out, dl_error* error) {
      return dl_dataset_open_async(uri.c_str(), options.raw(), out, error);
    });
  }

  // Returns the dataset, which no longer needs this object. It is returned once; later calls get
  // DL_ERR_WRONG_STATE. Without it, status() of the result is the reason: DL_TIMEOUT, DL_CANCELLED. Throws the
  // errors of Dataset(uri). If several threads wait, one gets the dataset.
  Result<Dataset> wait() { return raised(try_wait()); }
  // With a timeout; zero or less polls.
  template <typename Rep, typename Period>
  Result<Dataset> wait(std::chrono::duration<Rep, Period> timeout) {
    return raised(try_wait(timeout));
  }
  // The same, with errors in the result.
  Result<Dataset> try_wait() { return take(-1); }
  template <typename Rep, typename Period>
  Result<Dataset> try_wait(std::chrono::duration<Rep, Period> timeout) {
    return take(detail::nanoseconds(timeout));
  }

  // Readable when wait() would not wait (an eventfd on Linux). Poll it; never read or close it.
  Result<intptr_t> try_wait_handle() {
    intptr_t handle = -1;
    const Result<void> made = detail::result_of(
        [&](dl_error* error) { return dl_opening_wait_handle(opening_.get(), &handle, error); });
    if (!made) return made.error();
    return handle;
  }
  intptr_t wait_handle() { return try_wait_handle().value(); }

  // Ends the opening soon, with DL_CANCELLED, unless it has already finished. Never blocks.
  void cancel() noexcept { dl_opening_cancel(opening_.get()); }
  dl_opening* get() const noexcept { return opening_.get(); }

 private:
  Result<Dataset> take(int64_t timeout_ns) {
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_opening_wait(opening_.get(), timeout_ns, out, error);
    });
  }
  static Result<Dataset> raised(Result<Dataset> got) {
    if (got.status() < 0) detail::fail(got.error());
    return got;
  }

  std::unique_ptr<dl_opening, detail::Destroyer<dl_opening, dl_opening_destroy>> opening_;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
