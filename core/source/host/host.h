// What the host provides: memory or state that it lends, and fields that it describes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"

namespace dataline {

// Memory or state lent by the host, which `release` returns once nothing needs it. Without `release`, nothing is lent.
struct HostOwner {
  void* context = nullptr;
  void (*release)(void* context) = nullptr;

  bool lends() const { return release != nullptr; }
};

// Holds a loan from take() on. A call that fails does not take the loan: it stays with the host.
class HostLoan {
 public:
  HostLoan() = default;
  HostLoan(const HostLoan&) = delete;
  HostLoan& operator=(const HostLoan&) = delete;
  ~HostLoan() {
    if (owner_.lends()) owner_.release(owner_.context);
  }
  void take(HostOwner owner) noexcept { owner_ = owner; }

 private:
  HostOwner owner_;
};

constexpr size_t kMaxHostFields = 256;  // so that the cells of a reader's call fit on a worker's stack
// Of one field of one sample. With the limit above, the total of a run fits 63 bits.
constexpr int64_t kMaxHostFieldBytes = int64_t{1} << 48;

// Checks fields described by the host (arrays, readers): at least one, distinct non-empty names, known kinds and dtypes,
// shapes within kMaxRank whose bytes fit, matching axes. kInvalidArgument, kTooLarge; messages begin with `what`.
Status check_host_fields(const std::vector<Field>& fields, std::string_view what);

}  // namespace dataline
