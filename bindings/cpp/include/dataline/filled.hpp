// What the generated calls have in common: a call of numbers, a struct that the library fills, a list of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {
namespace detail {

// Calls `function(handle, numbers..., dl_error*)`.
template <typename Function, typename Handle, typename... Numbers>
Result<void> called(Function* function, Handle* handle, Numbers... numbers) {
  return result_of([&](dl_error* error) { return function(handle, numbers..., error); });
}

// Returns the struct that `function(handle, Struct* out, dl_error*)` fills.
template <typename Struct, typename Function, typename Handle>
Result<Struct> filled(Function* function, Handle* handle) {
  Struct out = {};
  out.struct_size = sizeof out;
  const Result<void> done = result_of([&](dl_error* error) { return function(handle, &out, error); });
  if (!done) return done.error();
  return out;
}

// Returns the structs that `at(handle, index, Struct* out, dl_error*)` fills, for each index below `count(handle)`.
template <typename Struct, typename Index, typename Counted, typename At, typename Handle>
Result<std::vector<Struct>> listed(Index (*count)(Counted*), At* at, Handle* handle) {
  std::vector<Struct> all(static_cast<size_t>(count(handle)));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].struct_size = sizeof all[i];
    const Result<void> done =
        result_of([&](dl_error* error) { return at(handle, static_cast<Index>(i), &all[i], error); });
    if (!done) return done.error();
  }
  return all;
}

}  // namespace detail
}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
