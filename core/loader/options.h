// The options of datasets and loaders: one table (option_rows.inc), the values that a caller has set, and the configuration of a
// loader that they make.
// Bindings generate their arguments from the table, the shell its flags and its help.
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
#include <type_traits>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/loader/extensions.h"
#include "core/loader/launcher.h"
#include "core/loader/tuning/tuner.h"
#include "core/memory/host_memory.h"
#include "core/order/order.h"
#include "core/order/shapes.h"
#include "core/order/steps.h"
#include "core/source/host/host.h"
#include "core/transform/decode/decoder.h"

namespace dataline {

// Values of DL_OPTION_* and DL_SCOPE_*.
enum class OptionType : int32_t {
  kBool = 1,
  kInt = 2,
  kSize = 3,
  kWord = 4,
  kText = 5,
  kIndices = 6,
  kWeights = 7,
  kLengths = 8
};
constexpr int32_t kScopeDataset = 1, kScopeLoader = 2, kScopeBoth = 3;

enum class Option : int32_t {
#define OPTION(name, ...) name,
#include "core/loader/option_rows.inc"
#undef OPTION
  kCount
};

struct LoaderConfig;
class Options;

// A value that a kWord option accepts. Several words may share a value; the first of them is the one reported.
struct OptionWord {
  const char* text = nullptr;
  int64_t value = 0;
};

struct OptionInfo {
  Option option;
  const char* key;
  OptionType type;
  int32_t scope;
  const char* default_value;  // as text; "" for none
  int64_t minimum;
  int64_t maximum;  // minimum > maximum: no range
  bool takes_auto;  // "auto" is a value too, beside the range
  std::array<OptionWord, 5> words;
  char choices[40];  // "keep|drop|pad"
  const char* unit;
  const char* doc;
  // Copies the value in force to its member of LoaderConfig; null if the row names none.
  void (*fill)(LoaderConfig&, const Options&, Option);
};
std::span<const OptionInfo> option_table();
// The word of a kWord option for `value`; "" if it has none.
std::string_view option_word(Option option, int64_t value);
template <typename Enum>
requires std::is_enum_v<Enum> std::string_view option_word(Option option, Enum value) {
  return option_word(option, static_cast<int64_t>(value));
}
constexpr const char* kOptionsSince = "0.1";

// A host array, copied or borrowed. The deleter of a borrowed one calls the host's release callback.
template <typename T>
struct HostArray {
  std::shared_ptr<const T> data;
  int64_t count = 0;
  bool given = false;  // also true for an empty array
  std::span<const T> span() const { return {data.get(), static_cast<size_t>(count)}; }
};
// Borrows if the host gave a release callback, else copies. If this throws, the host still owns the array.
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
  // The value in force: the one set, else the default.
  int64_t integer(Option option) const;        // bool, int, size, word
  std::string_view text(Option option) const;  // word, text
  std::string as_text(Option option) const;    // any type, as a user would write it
  static Result<Option> find(std::string_view key);

  HostArray<int64_t> indices;
  HostArray<double> weights;
  HostArray<int64_t> lengths;
  AllocatorTable allocator;
  Log log;
  CancelTokenRef cancel;
  LauncherVariables environment;                 // for rank=auto and world_size=auto
  std::shared_ptr<const Extensions> extensions;  // may be null

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

// --- The configuration of a loader ---

enum class LeaseOverflow : int32_t { kCopy, kError, kWait };
enum class DeviceSync : int32_t { kStream, kHost };
enum class OnError : int32_t { kRaise, kReplace, kQuarantine };
enum class StatsLevel : int32_t { kBasic, kFull };
enum class Homogeneous : int32_t { kNone, kBatch };
enum class Io : int32_t { kAuto, kMmap, kPread, kMemory, kDevice };

// Most members are filled by the rows of option_rows.inc; the defaults in force are those of the rows.
struct LoaderConfig {
  StepConfig steps;
  Shuffle shuffle = Shuffle::kNone;
  int64_t shuffle_block = 8 << 20, shuffle_blocks = 512;
  bool shuffle_blocks_given = false;
  uint64_t seed = 0;
  int64_t epochs = 0;  // 0: for ever
  int64_t start_epoch = 0, start_step = 0;
  int64_t num_workers = 1;
  bool workers_are_auto = false;
  int64_t prefetch_depth = 4, max_leases = 4;
  // With tune=on num_workers and prefetch_depth are the most that there may be, which memory is planned for, and it
  // begins with these.
  int64_t start_workers = 1, start_depth = 4;
  Tune tune = Tune::kOff;
  bool tune_is_auto = false;
  LeaseOverflow lease_overflow = LeaseOverflow::kCopy;
  int64_t budget_bytes = 0;
  bool budget_is_auto = true;
  int64_t max_bytes_per_sample = 1 << 20;
  // A batch of one sample has room for the largest image that max_pixels allows: address space, which costs nothing.
  bool fits_any_image = false;
  DecodeLimits decode_limits;
  OnError on_error = OnError::kRaise;
  int64_t max_bad = -1;
  bool replacement = true;
  int64_t samples_per_epoch = -1;
  int64_t pack_length = -1;  // of the dataset, which must have been opened with it
  Homogeneous homogeneous = Homogeneous::kNone;
  std::string transform;
  std::vector<int64_t> transform_places;  // TransformSettings::first_places: where a cache cut it
  std::string cache;                      // a directory; "": none
  int64_t cache_bytes = -1;               // of it; -1: a tenth of its file system stays free
  int64_t cache_quality = 0;              // of JPEG, for its images; 0: as they are
  std::string device, cuda_library;
  bool pin_memory = false;
  std::string pin_memory_device;
  Io io = Io::kAuto;
  DeviceSync device_sync = DeviceSync::kStream;
  StatsLevel stats = StatsLevel::kBasic;
  std::string trace;  // a file; "": none
  HostArray<int64_t> indices;
  HostArray<double> weights;
  // Batches by length or shape (buckets.h); no edges: no buckets.
  BucketBy bucket_by = BucketBy::kLength;
  std::vector<ImageBucket> bucket_shapes;  // by aspect
  std::vector<int64_t> bucket_edges;       // items of a row; of images height x width
  int64_t max_tokens = -1;
  int64_t bucket_table_bytes = 0;  // of lengths or sizes; known with the set
  bool adds_field = false;         // the loader's own field, `length` or `size`; known with the set
  HostArray<int64_t> lengths;
  std::shared_ptr<const Extensions> extensions;  // may be null
};

// Fails with kBadOption, naming the options that contradict each other.
Result<LoaderConfig> make_config(const Options& options);

}  // namespace dataline
