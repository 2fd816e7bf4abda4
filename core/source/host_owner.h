// Memory or state lent by the host, given back by one call when nothing needs it any more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dataline {

// What the host passed. No release: nothing is lent.
struct HostOwner {
  void* context = nullptr;
  void (*release)(void* context) = nullptr;

  bool lends() const { return release != nullptr; }
};

// Holds a loan from take() on. A call that fails never takes: the host then keeps what it offered.
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

}  // namespace dataline
