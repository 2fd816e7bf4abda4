// The simple calls of a loader by their names.
//
// Generated from capi/api.json by capi/api/generate.py; do not edit.
//
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <dataline.hpp>
#include <string>
#include <vector>

namespace {

using Numbers = std::vector<int64_t>;

dataline::Result<void> simple_call(dataline::Loader& loader, const std::string& name, const Numbers& numbers) {
  static_cast<void>(loader), static_cast<void>(numbers);
  if (name == "set_workers" && numbers.size() == 1) return loader.try_set_workers(static_cast<int64_t>(numbers[0]));
  return dataline::Error(DL_ERR_INTERNAL, "no call " + name);
}

std::string simple_get(const dataline::Loader& loader, const std::string& name) {
  if (name == "stats.num_workers") return std::to_string(loader.stats().num_workers);
  if (name == "stats.batches") return std::to_string(loader.stats().batches);
  if (name == "stats.samples") return std::to_string(loader.stats().samples);
  if (name == "stats.bytes") return std::to_string(loader.stats().bytes);
  if (name == "stats.skipped") return std::to_string(loader.stats().skipped);
  if (name == "stats.dropped") return std::to_string(loader.stats().dropped);
  if (name == "stats.padded") return std::to_string(loader.stats().padded);
  if (name == "stats.replaced") return std::to_string(loader.stats().replaced);
  if (name == "stats.bad") return std::to_string(loader.stats().bad);
  if (name == "stats.wait_ns") return std::to_string(loader.stats().wait_ns);
  if (name == "stats.waits") return std::to_string(loader.stats().waits);
  if (name == "stats.worker_cpu_ns") return std::to_string(loader.stats().worker_cpu_ns);
  if (name == "stats.arena_bytes") return std::to_string(loader.stats().arena_bytes);
  if (name == "stats.held_bytes") return std::to_string(loader.stats().held_bytes);
  if (name == "stats.budget_bytes") return std::to_string(loader.stats().budget_bytes);
  if (name == "stats.leases_held") return std::to_string(loader.stats().leases_held);
  if (name == "stats.lease_copies") return std::to_string(loader.stats().lease_copies);
  if (name == "stats.ready_batches") return std::to_string(loader.stats().ready_batches);
  if (name == "stats.pinned_bytes") return std::to_string(loader.stats().pinned_bytes);
  if (name == "stats.threads_abandoned") return std::to_string(loader.stats().threads_abandoned);
  if (name == "stats.device_bytes") return std::to_string(loader.stats().device_bytes);
  if (name == "stats.copied_bytes") return std::to_string(loader.stats().copied_bytes);
  if (name == "stats.warned") return std::to_string(loader.stats().warned);
  if (name == "stats.cache_read") return std::to_string(loader.stats().cache_read);
  if (name == "stats.cache_made") return std::to_string(loader.stats().cache_made);
  if (name == "tuned.num_workers") return std::to_string(loader.tuned().num_workers);
  if (name == "tuned.prefetch_depth") return std::to_string(loader.tuned().prefetch_depth);
  if (name == "tuned.most_workers") return std::to_string(loader.tuned().most_workers);
  if (name == "tuned.most_depth") return std::to_string(loader.tuned().most_depth);
  if (name == "tuned.wanted_workers") return std::to_string(loader.tuned().wanted_workers);
  if (name == "tuned.wanted_depth") return std::to_string(loader.tuned().wanted_depth);
  if (name == "tuned.changes") return std::to_string(loader.tuned().changes);
  if (name == "tuned.frozen") return std::to_string(loader.tuned().frozen);
  if (name == "tuned.text") return loader.tuned().text;
  return "no member " + name;
}

}  // namespace
