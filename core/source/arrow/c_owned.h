// A struct of Arrow's C interfaces, with the duty to release it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace dataline {

// The interface's rule: a struct is moved by copying its bytes, and the one left behind is marked as released.
template <typename Struct>
struct ArrowOwned {
  Struct raw = {};

  ArrowOwned() = default;
  // Takes it from the host.
  explicit ArrowOwned(Struct& given) noexcept : raw(given) { given.release = nullptr; }
  ArrowOwned(ArrowOwned&& other) noexcept : ArrowOwned(other.raw) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    std::swap(raw, other.raw);
    return *this;
  }
  ~ArrowOwned() {
    if (raw.release != nullptr) raw.release(&raw);
  }
  void hand_on(Struct* out) noexcept {
    *out = raw;
    raw.release = nullptr;
  }
};

}  // namespace dataline
