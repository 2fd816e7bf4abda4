// Every setting of a dataset and of a loader, in one table: bindings make arguments of it, the shell its flags and
// help, dl_options_set its checks.
// Threads: externally synchronized. Copied at open and create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/source/host_owner.h"

namespace dataline {

// Values of DL_OPTION_* and DL_SCOPE_*.
enum class OptionType : int32_t {
  kBool = 1,
  kInt = 2,
  kSize = 3,
  kWord = 4,
  kText = 5,
  kIndices = 6,
  kWeights = 7
};
constexpr int32_t kScopeDataset = 1, kScopeLoader = 2, kScopeBoth = 3;

enum class Option : int32_t {
  kBatchSize,
  kGlobalBatchSize,
  kLastBatch,
  kDropLast,
  kShuffle,
  kSeed,
  kEpochs,
  kStartEpoch,
  kStartStep,
  kRank,
  kWorldSize,
  kNumWorkers,
  kPrefetchDepth,
  kMaxLeases,
  kLeaseOverflow,
  kMemoryBudget,
  kMaxBytesPerSample,
  kMaxPixels,
  kMaxScans,
  kMaxDecodedBytes,
  kIo,
  kFaultGuard,
  kOnError,
  kOnWarning,
  kMaxBad,
  kSampleIndices,
  kWeights,
  kReplacement,
  kSamplesPerEpoch,
  kTransform,
  kPinMemory,
  kDevice,
  kDeviceSync,
  kCudaLibrary,
  kCount
};

struct OptionInfo {
  Option option;
  const char* key;
  OptionType type;
  int32_t scope;
  const char* default_value;  // as text; "" for none
  int64_t minimum;
  int64_t maximum;  // minimum > maximum: no range
  const char* choices;
  const char* unit;
  const char* doc;
};
std::span<const OptionInfo> option_table();
constexpr const char* kOptionsSince = "0.1";

// A host array, borrowed or copied; the deleter tells the host when it was borrowed.
template <typename T>
struct HostArray {
  std::shared_ptr<const T> data;
  int64_t count = 0;
  bool given = false;  // an empty array is an array too
  std::span<const T> span() const { return {data.get(), static_cast<size_t>(count)}; }
};
// Copies when nothing is lent. A call that throws never takes the loan: the host keeps it.
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

class Options {
 public:
  Status set(std::string_view key, std::string_view text);
  Status set_i64(std::string_view key, int64_t value);

  bool is_set(Option option) const { return slot(option).set; }
  int64_t integer(Option option) const;        // bool, int, size; the default when not set
  std::string_view text(Option option) const;  // word, text
  std::string as_text(Option option) const;    // any, as a user types it
  static Result<Option> find(std::string_view key);

  HostArray<int64_t> indices;
  HostArray<double> weights;
  AllocatorTable allocator;
  Log log;
  CancelTokenRef cancel;

 private:
  struct Value {
    bool set = false;
    int64_t integer = 0;
    std::string text;
  };
  Value& slot(Option option) { return values_[static_cast<size_t>(option)]; }
  const Value& slot(Option option) const { return values_[static_cast<size_t>(option)]; }

  std::array<Value, static_cast<size_t>(Option::kCount)> values_;
};

}  // namespace dataline
