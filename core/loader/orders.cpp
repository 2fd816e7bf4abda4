// SPDX-License-Identifier: Apache-2.0
#include "core/loader/orders.h"

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/over_budget.h"
#include "core/base/text.h"
#include "core/loader/config.h"
#include "core/loader/option_table.h"
#include "core/loader/parts.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

// By some of its records.
bool is_in_memory(const Source& source) {
  constexpr int64_t kProbes = 16;
  const int64_t count = source.count();
  for (int64_t probe = 0; probe < std::min(count, kProbes); ++probe) {
    if (!source.cached(count / kProbes * probe)) return false;
  }
  return true;
}

class OrderMaker {
 public:
  OrderMaker(SourceRef& source, LoaderConfig& config, const OrderContext& context)
      : source_(source), config_(config), context_(context) {
    made_.steps = Steps(config.steps);
  }

  Result<MadeOrder> make() {
    const Mix* const mix = source_->facts().mix;
    DL_RETURN_IF_ERROR(check_mix_options(mix, config_.order, config_.buckets));
    limit_open_blocks();
    made_.texts = {std::string(option_word(Option::kShuffle, config_.order.shuffle)), "none", "none"};
    if (!config_.buckets.edges.empty())
      DL_RETURN_IF_ERROR(make_bucket_order());
    else if (mix != nullptr && !config_.order.indices.given)
      DL_RETURN_IF_ERROR(make_mixed_order(*mix));
    else
      DL_RETURN_IF_ERROR(make_plain_order());
    if (made_.steps.count() == 0 && config_.job.epochs == 0) {
      return error(Code::kEmpty, "an epoch has no steps (", source_->count(), " samples, ",
                   made_.steps.slots(), " slots, global batch ", numbers_text(made_.steps.global_batches()),
                   "), and epochs=0 repeats it without a limit");
    }
    return std::move(made_);
  }

 private:
  Status make_plain_order();
  Status make_mixed_order(const Mix& mix);
  Status make_bucket_order();
  void limit_open_blocks();
  Status cut_blocks(BlockEnds& ends) const;
  void note_windows(const Order& order);
  double open_block_bytes(const Order& order) const;

  SourceRef& source_;
  LoaderConfig& config_;
  const OrderContext& context_;
  MadeOrder made_;
};

// With shuffle=window: where the blocks of the set end.
Status OrderMaker::cut_blocks(BlockEnds& ends) const {
  if (config_.order.shuffle != Shuffle::kWindow) return Status::ok();
  try {
    source_->append_blocks(config_.order.shuffle_block, ends);
    return Status::ok();
  } catch (const OverBudget& refused) {
    Status status = refused.status("option shuffle_block: the table of its blocks");
    return error(Code::kOverBudget, status.text(), " or shuffle_block (", config_.order.shuffle_block, ")");
  }
}

// What is open at a time is up to four times shuffle_blocks: whole windows, the blocks at their ends, and those of batches that are
// read ahead. A set that can keep fewer open would open some again and again.
void OrderMaker::limit_open_blocks() {
  constexpr int64_t kOpenAtOnce = 4;
  if (config_.order.shuffle != Shuffle::kWindow) return;
  const int64_t held = source_->facts().held_blocks;
  const int64_t most = std::max<int64_t>(held / kOpenAtOnce, 1);
  if (config_.order.shuffle_blocks <= most) return;
  context_.log(config_.order.shuffle_blocks_given ? LogLevel::kWarning : LogLevel::kInfo,
               concat("option shuffle_blocks: ", config_.order.shuffle_blocks, " is lowered to ", most,
                      ": the dataset can keep ", held, " of its blocks open"));
  config_.order.shuffle_blocks = most;
}

// Bytes of the page cache that the blocks open on this rank take, at most.
double OrderMaker::open_block_bytes(const Order& order) const {
  const double set = static_cast<double>(source_->count()) * static_cast<double>(source_->stored_bytes());
  const double open = 2 * static_cast<double>(config_.order.shuffle_block) *
                      static_cast<double>(config_.order.shuffle_blocks);
  return std::min(set,
                  order.ranks_share_blocks() ? open : open / static_cast<double>(made_.steps.world_size()));
}

// With shuffle=window: what a state says of it, a line for the log, and a warning where blocks are gone from memory before
// their samples are drawn, so that each is read many times.
void OrderMaker::note_windows(const Order& order) {
  if (config_.order.shuffle != Shuffle::kWindow) return;
  made_.texts.shuffle += concat(" shuffle_block=", config_.order.shuffle_block,
                                " shuffle_blocks=", config_.order.shuffle_blocks, order.parameters());
  const auto open = static_cast<int64_t>(open_block_bytes(order));
  context_.log(
      LogLevel::kInfo,
      concat("order: ", made_.texts.shuffle, "; ", order.table_bytes(),
             " bytes for each open epoch; a block is requested up to ", order.steps_per_block(),
             " steps before its last sample; open blocks take up to ", open, " bytes of the page cache"));
  const MemoryLimit limit = memory_limit();
  if (open <= limit.bytes || is_in_memory(*source_)) return;
  context_.log(LogLevel::kWarning,
               concat("options shuffle_block and shuffle_blocks: open blocks take up to ", open,
                      " bytes of the page cache, and this process may use ", limit.bytes, " (", limit.origin,
                      "): blocks would be read repeatedly; lower one of them (", config_.order.shuffle_block,
                      " x ", config_.order.shuffle_blocks, ")"));
}

Status OrderMaker::make_plain_order() {
  // Counted while it grows; the order has a copy of the final size.
  MetadataResource resource(context_.memory, MemoryKind::kTable);
  BlockEnds block_ends(&resource);
  DL_RETURN_IF_ERROR(cut_blocks(block_ends));
  const OrderSpec spec{.sample_count = source_->count(),
                       .shuffle = config_.order.shuffle,
                       .seed = config_.order.seed,
                       .block_ends = block_ends,
                       .open_blocks = config_.order.shuffle_blocks,
                       .step_slots = made_.steps.global_batch(),
                       .indices = config_.order.indices.span(),
                       .weights = config_.order.weights.span(),
                       .has_indices = config_.order.indices.given,
                       .replacement = config_.order.replacement,
                       .samples_per_epoch = config_.order.samples_per_epoch,
                       .memory = context_.memory};
  if (config_.order.weights.given && config_.order.weights.count != spec.sample_count) {
    return error(Code::kBadOption, "option weights: expected ", spec.sample_count, ", one per sample, got ",
                 config_.order.weights.count);
  }
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const Order> order, Order::create(spec));
  made_.steps.cut(order->slots());
  note_windows(*order);
  if (config_.order.weights.given) {
    Digest digest;
    digest.add(std::as_bytes(config_.order.weights.span()));
    made_.texts.weights =
        concat(digest.hex(), config_.order.replacement ? " with" : " without", " replacement");
  }
  made_.order = std::move(order);
  return Status::ok();
}

Status OrderMaker::make_mixed_order(const Mix& mix) {
  MetadataResource resource(context_.memory, MemoryKind::kTable);
  BlockEnds block_ends(&resource);
  DL_RETURN_IF_ERROR(cut_blocks(block_ends));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const MixOrder> order,
                      make_mix_order(mix, config_.order, made_.steps, block_ends, context_.memory));
  made_.mix = order.get();
  std::shared_ptr<const StepOrder> steps = order->steps();
  if (steps == nullptr) {
    made_.steps.cut(order->slots());
  } else {
    made_.steps.cut(std::move(steps));
  }
  note_windows(*order);
  made_.order = std::move(order);
  return Status::ok();
}

Status OrderMaker::make_bucket_order() {
  DL_ASSIGN_OR_RETURN(Buckets buckets, make_buckets(source_, config_.buckets,
                                                    {made_.steps, config_.order, config_.sample,
                                                     context_.memory, context_.token, context_.log}));
  made_.steps.cut(std::move(buckets.order.steps));
  config_.buckets.adds_field = buckets.source != source_;
  source_ = std::move(buckets.source);
  made_.texts.lengths = std::move(buckets.digest);
  config_.memory.bucket_table_bytes = buckets.table_bytes;
  made_.order = std::move(buckets.order.order);
  return Status::ok();
}

}  // namespace

Result<MadeOrder> make_order(SourceRef& source, LoaderConfig& config, const OrderContext& context) {
  return OrderMaker(source, config, context).make();
}

Result<OrderVersion> make_order_of(HostArray<int64_t> indices, int64_t samples,
                                   std::shared_ptr<HostMemory> memory) {
  const OrderSpec spec{.sample_count = samples,
                       .indices = indices.span(),
                       .weights = {},
                       .has_indices = true,
                       .memory = std::move(memory)};
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const Order> order, Order::create(spec));
  return make_version(std::move(order), std::move(indices));
}

}  // namespace dataline
