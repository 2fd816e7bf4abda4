// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plan_view.h"

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr int32_t kCpu = 1;

int64_t row_bytes(const Storage& storage) {
  return storage.kind == FieldKind::kRagged || storage.varies ? -1 : storage.row_bytes;
}

// What is done once at create, then what each batch sends: one index per sample, and geometry.
std::vector<PlanStage> describe_resident(const Pipeline& pipeline, const Device& device) {
  std::vector<PlanStage> stages;
  const std::vector<Field>& fields = pipeline.source->schema().fields;
  for (size_t f = 0; f < pipeline.routes.size(); ++f) {
    const Route& route = pipeline.routes[f];
    const DeviceTail& tail = pipeline.tails[static_cast<size_t>(route.tail)];
    const int64_t held = pipeline.resident->storages[static_cast<size_t>(tail.storage)].row_bytes;
    const auto add = [&](int32_t where, std::string text, int64_t in, int64_t out) {
      stages.push_back({where, fields[f].name, std::move(text), in, out});
    };
    const std::string host = route.host_text.empty() ? "gather" : route.host_text;
    add(kCpu, concat(host, ", once"), route.stored_bytes, held);
    int64_t sent = f == 0 ? int64_t{sizeof(int64_t)} : 0;
    if (tail.geometry_storage >= 0) sent += int64_t{sizeof(TailGeometry)};
    if (sent > 0) add(device.type(), "copy", sent, sent);
    add(device.type(), route.device_text.empty() ? "gather" : route.device_text, tail.tail.in_bytes(),
        tail.tail.out_bytes());
  }
  return stages;
}

}  // namespace

std::vector<PlanStage> describe_plan(const Pipeline& pipeline, const Device& device) {
  if (pipeline.resident) return describe_resident(pipeline, device);
  std::vector<PlanStage> stages;
  const int32_t goes_to = device.type();
  const std::vector<Field>& fields = pipeline.source->schema().fields;
  for (size_t f = 0; f < pipeline.routes.size(); ++f) {
    const Route& route = pipeline.routes[f];
    const int64_t crossing = row_bytes(pipeline.layout.storages[static_cast<size_t>(route.storage)]);
    const auto add = [&](int32_t where, std::string_view text, int64_t in, int64_t out) {
      stages.push_back({where, fields[f].name, std::string(text), in, out});
    };
    const DeviceTail* tail = route.tail < 0 ? nullptr : &pipeline.tails[static_cast<size_t>(route.tail)];
    if (route.carrier >= 0) {
      add(goes_to, concat("with ", fields[static_cast<size_t>(route.carrier)].name), 0, 0);
    } else {
      // A shared column is gathered as a whole.
      const bool gathers = route.host_text.empty();
      add(kCpu, gathers ? "gather" : route.host_text, gathers ? crossing : route.stored_bytes, crossing);
      const int64_t geometry =
          tail != nullptr && tail->geometry_storage >= 0 ? int64_t{sizeof(TailGeometry)} : 0;
      const int64_t sent = crossing < 0 ? -1 : crossing + geometry;
      if (goes_to != kCpu) add(goes_to, "copy", sent, sent);
    }
    if (tail != nullptr) add(goes_to, route.device_text, tail->tail.in_bytes(), tail->tail.out_bytes());
  }
  return stages;
}

}  // namespace dataline
