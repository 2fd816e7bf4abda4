// The values of options that a caller has set. Which options there are is in option_table.h.
// Threads: externally synchronized. Copied at open and create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/loader/launcher.h"
#include "core/memory/host_memory.h"
#include "core/source/host/host_array.h"

namespace dataline {

enum class Option : int32_t;  // core/loader/option_table.h
struct Extensions;            // core/loader/extensions.h

class Options {
 public:
  Options();

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

  std::vector<Value> values_;  // one per option
};

}  // namespace dataline
