// An array from the host, copied or borrowed.
// Threads: immutable once held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/source/host/host.h"

namespace dataline {

// The deleter of a borrowed one calls the host's release callback.
template <typename T>
struct HostArray {
  std::shared_ptr<const T> data;
  int64_t count = 0;
  bool given = false;  // also true for an empty array
  std::span<const T> span() const { return {data.get(), static_cast<size_t>(count)}; }
};
// Borrows if `owner` has a release callback, else copies. If this throws, the host still owns the array.
template <typename T>
HostArray<T> hold_array(const T* values, int64_t count, HostOwner owner) {
  HostArray<T> array;
  array.count = count;
  array.given = true;
  if (owner.lends()) {
    auto loan = std::make_shared<HostLoan>();
    array.data = std::shared_ptr<const T>(loan, values);
    loan->take(owner);
  } else {
    auto copy = std::make_shared<std::vector<T>>(values, values + count);
    array.data = std::shared_ptr<const T>(copy, copy->data());
  }
  return array;
}

}  // namespace dataline
