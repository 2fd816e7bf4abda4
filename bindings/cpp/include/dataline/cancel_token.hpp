// CancelToken: ends opens and waits from another thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>

#include <memory>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Ends Dataset::open and the waits of every loader created with it (DL_CANCELLED), permanently. Any thread.
class CancelToken {
 public:
  CancelToken() : CancelToken(try_create().value()) {}
  explicit CancelToken(dl_cancel_token* taken) noexcept : token_(taken) {}
  static Result<CancelToken> try_create() {
    return detail::make<CancelToken, dl_cancel_token>(dl_cancel_token_create);
  }
  explicit operator bool() const noexcept { return token_ != nullptr; }
  // Never blocks.
  void cancel() const noexcept { dl_cancel_token_cancel(token_.get()); }
  dl_cancel_token* get() const noexcept { return token_.get(); }

 private:
  std::unique_ptr<dl_cancel_token, detail::Destroyer<dl_cancel_token, dl_cancel_token_destroy>> token_;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
