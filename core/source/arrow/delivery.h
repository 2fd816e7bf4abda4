// How the columns of a table are delivered: as they lie, or copied, because bits become bytes or nulls are filled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/source/arrow/batches.h"
#include "core/source/arrow/columns.h"
#include "core/source/arrow/values.h"
#include "core/source/nulls.h"

namespace dataline {

struct ArrowDelivery {
  bool plain = false;   // stored as delivered, without nulls
  bool copies = false;  // into scratch
  bool nulls = false;   // some bitmap says that there are
  int64_t element_bytes = 1;
  ArrowFill fill = {};
  Block fill_row = {};  // of a dense field with nulls: what is delivered for a null
};

// What holds the table.
struct ArrowStore {
  const std::string& name;      // as messages have it
  bool addressable = true;      // bytes can be pointed to
  int64_t max_value_bytes = 0;  // no value is larger
  std::optional<NullFill> fill = {};
  HostMemory& memory;
};

// One for each column of the plan, and notes about nulls. kBadUri: nulls=fill(V) with a V that a field with nulls cannot have;
// kCorrupt (values larger than the store can have), kNoMemory, kOverBudget.
Result<std::vector<ArrowDelivery>> deliver_columns(const ArrowPlan& plan, const ArrowTables& tables,
                                                   const ArrowStore& store, std::vector<std::string>& notes);

}  // namespace dataline
