// SPDX-License-Identifier: Apache-2.0
#include "core/loader/order_versions.h"

#include <algorithm>

namespace dataline {

std::shared_ptr<const Order> own_indices(std::unique_ptr<const Order> order, HostArray<int64_t> indices) {
  struct Owned {
    HostArray<int64_t> indices;
    std::unique_ptr<const Order> order;  // reads them
  };
  auto owned = std::make_shared<Owned>(Owned{std::move(indices), std::move(order)});
  return {owned, owned->order.get()};
}

const OrderVersion& OrderVersions::of(int64_t epoch) const {
  return *std::find_if(versions_.rbegin(), versions_.rend() - 1,
                       [&](const OrderVersion& version) { return version.from_epoch <= epoch; });
}

const OrderVersion& OrderVersions::saved_under(int64_t epoch, std::string_view indices_digest) const {
  const OrderVersion& own = of(epoch);
  if (own.indices_digest == indices_digest) return own;
  const auto found = std::find_if(versions_.rbegin(), versions_.rend(), [&](const OrderVersion& version) {
    return version.indices_digest == indices_digest;
  });
  return found != versions_.rend() ? *found : own;
}

// Later ones are replaced. Of those that no epoch from the current one on needs, one is kept.
OrderVersions OrderVersions::with(OrderVersion version, int64_t current) const {
  std::vector<OrderVersion> versions;
  for (const OrderVersion& earlier : versions_) {
    if (earlier.from_epoch <= current) versions.push_back(earlier);
  }
  if (versions.empty()) versions.push_back({0, versions_.front().order, versions_.front().indices_digest});
  versions.push_back(std::move(version));
  while (versions.size() > 2 && versions[2].from_epoch <= current) versions.erase(versions.begin());
  return OrderVersions(std::move(versions));
}

OrderVersions OrderVersions::restored(const OrderVersion& version, int64_t epoch) const {
  if (&of(epoch) == &version) return *this;
  std::vector<OrderVersion> versions;
  for (const OrderVersion& other : versions_) {
    const bool same = other.from_epoch == epoch && other.indices_digest == version.indices_digest;
    if (other.from_epoch <= epoch && !same) versions.push_back(other);
  }
  versions.push_back({epoch, version.order, version.indices_digest});
  const OrderVersion& next = of(epoch + 1);
  if (next.from_epoch == epoch) versions.push_back({epoch + 1, next.order, next.indices_digest});
  for (const OrderVersion& other : versions_) {
    if (other.from_epoch > epoch) versions.push_back(other);
  }
  return OrderVersions(std::move(versions));
}

}  // namespace dataline
