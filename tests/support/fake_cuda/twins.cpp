// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/twins.h"

#include <cstring>

#include "tests/support/fake_cuda/kernel_twins.h"

namespace fake_cuda {
namespace {

template <typename T>
T parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

void fill(void** parameters, Dimensions, Dimensions) {
  const auto bytes = parameter<uint64_t>(parameters, 1);
  std::byte* to = device_write(parameter<uint64_t>(parameters, 0), bytes);
  std::memset(to, static_cast<int>(parameter<uint32_t>(parameters, 2)), bytes);
}

void sum(void** parameters, Dimensions, Dimensions) {
  const auto bytes = parameter<uint64_t>(parameters, 1);
  const std::byte* from = device_read(parameter<uint64_t>(parameters, 0), bytes);
  uint64_t total = 0;
  for (uint64_t i = 0; i < bytes; ++i) total += static_cast<uint64_t>(from[i]);
  std::byte* to = device_write(parameter<uint64_t>(parameters, 2), sizeof total);
  check_aligned(to, sizeof total);
  std::memcpy(to, &total, sizeof total);
}

}  // namespace

const std::vector<Twin>& twins() {
  static const auto* const all = [] {
    auto* list = new std::vector<Twin>(kernel_twins());
    list->push_back({"fake_fill", {8, 8, 4}, fill});
    list->push_back({"fake_sum", {8, 8, 8}, sum});
    return list;
  }();
  return *all;
}

}  // namespace fake_cuda
