// SPDX-License-Identifier: Apache-2.0
#include "core/loader/mixed_documents.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/loader/config/order.h"
#include "core/loader/parts.h"
#include "core/order/step_config.h"
#include "core/source/forward_source.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

constexpr int64_t kMaxNamedInNote = 16;
constexpr int64_t kSlotsAtOnce = 1 << 16;  // between two looks at the cancel token

class MixedDocuments final : public ForwardSource {
 public:
  MixedDocuments(SourceRef drawn, SourceRef mix, std::string note)
      : ForwardSource(std::move(drawn)), mix_(std::move(mix)), note_(std::move(note)) {}

  SourceInfo info() const override {
    SourceInfo info = mix_->info();
    info.notes.push_back(note_);
    return info;
  }

 private:
  const SourceRef mix_;
  const std::string note_;
};

Status draw(const MixOrder& order, std::span<int64_t> out, const OpenContext& context) {
  const auto slots = static_cast<int64_t>(out.size());
  for (int64_t first = 0; first < slots; first += kSlotsAtOnce) {
    if (context.cancelled())
      return error(Code::kCancelled, "cancelled while drawing document ", first, " of ", slots, " of a mix");
    context.report("drawing documents");
    order.samples(0, nullptr, first, std::min(kSlotsAtOnce, slots - first), out.data() + first);
  }
  return Status::ok();
}

std::string note_of(const Mix& mix, std::span<const int64_t> drawn) {
  std::string note =
      concat("documents of a mix of ", mix.part_count(), " parts, as one epoch draws them: ", drawn.size());
  if (mix.part_count() > kMaxNamedInNote) return note;
  std::vector<int64_t> of_part(static_cast<size_t>(mix.part_count()));
  for (const int64_t record : drawn) ++of_part[static_cast<size_t>(mix.part_of(record))];
  for (int64_t k = 0; k < mix.part_count(); ++k)
    note += concat(k == 0 ? " (" : ", ", mix.name(k), " ", of_part[static_cast<size_t>(k)]);
  return note + ")";
}

}  // namespace

Result<SourceRef> documents_of_mix(SourceRef mix, const OpenContext& context) {
  DL_RETURN_IF_ERROR(check_documents(*mix));
  const Mix& recipe = *mix->facts().mix;
  if (recipe.stages().size() > 1) {
    return error(Code::kUnsupported,
                 "packing: a mix with a schedule cannot be packed, because its steps count batches of a "
                 "loader; open each part with pack_length instead");
  }
  OrderConfig drawing;
  drawing.shuffle = Shuffle::kFull;
  drawing.seed = 0;
  DL_ASSIGN_OR_RETURN(
      const std::unique_ptr<const MixOrder> order,
      make_mix_order(recipe, drawing, Steps(StepConfig()), /*block_ends=*/{}, context.memory));
  const std::optional<int64_t> bytes = checked_multiply(order->slots(), int64_t{sizeof(int64_t)});
  if (!bytes)
    return error(Code::kOverBudget, "packing: ", order->slots(), " documents of a mix do not fit in memory");
  DL_ASSIGN_OR_RETURN(Block block,
                      context.memory->allocate(std::max<int64_t>(*bytes, 1), 64, MemoryKind::kTable,
                                               "the documents that a mix draws"));
  const std::span<int64_t> drawn(reinterpret_cast<int64_t*>(block.data()),
                                 static_cast<size_t>(order->slots()));
  DL_RETURN_IF_ERROR(draw(*order, drawn, context));
  std::string note = note_of(recipe, drawn);
  auto held = std::make_unique<Block>(std::move(block));
  const HostOwner owner{held.get(), [](void* self) { delete static_cast<Block*>(self); }};
  DL_ASSIGN_OR_RETURN(SourceRef chosen, subset_source(mix, drawn, owner, *context.memory));
  static_cast<void>(held.release());  // by the subset
  return SourceRef(std::make_shared<MixedDocuments>(std::move(chosen), std::move(mix), std::move(note)));
}

}  // namespace dataline
