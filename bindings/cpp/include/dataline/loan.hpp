// Arrays borrowed from the host: a callable that is called once when they are released.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// For borrowed arrays that outlive everything (constants, mapped files): no notification.
struct NoRelease {
  void operator()() const noexcept {}
};

// A release that keeps `owner` (a vector, a shared_ptr, ...) alive until it is called, then destroys it.
template <typename Owner>
auto keep(Owner&& owner) {
  return [held = std::decay_t<Owner>(std::forward<Owner>(owner))]() noexcept { static_cast<void>(held); };
}

namespace detail {

// `call(give_back, context)` passes both to the library. If it fails, nothing is borrowed, and `release` is
// destroyed here without being called.
template <typename Release, typename Call>
dl_status lend(Release&& release, Call&& call) {
  using Held = std::decay_t<Release>;
  auto held = std::make_unique<Held>(std::forward<Release>(release));
  void (*give_back)(void*) = [](void* context) noexcept {
    const std::unique_ptr<Held> returned(static_cast<Held*>(context));
    (*returned)();
  };
  const dl_status status = call(give_back, held.get());
  if (status == DL_OK) static_cast<void>(held.release());
  return status;
}

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
