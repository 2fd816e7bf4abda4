// The order of a job and its steps, at create: of all samples, of a mix, or of batches by length or shape.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/over_budget.h"
#include "core/base/text.h"
#include "core/loader/buckets.h"
#include "core/loader/loader.h"
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

}  // namespace

Status Loader::prepare_order() {
  weights_digest_ = lengths_digest_ = "none";
  shuffle_text_ = option_word(Option::kShuffle, config_.shuffle);
  if (const Mix* mix = pipeline_.source->facts().mix; mix != nullptr) {
    mix_source_ = pipeline_.source;
    part_delivered_.assign(static_cast<size_t>(mix->part_count()), 0);
  }
  DL_RETURN_IF_ERROR(check_mix_options(pipeline_.source->facts().mix, config_));
  limit_open_blocks();
  const auto make = !config_.bucket_edges.empty()                      ? &Loader::make_bucket_order
                    : mix_source_ != nullptr && !config_.indices.given ? &Loader::make_mixed_order
                                                                       : &Loader::make_order;
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const Order> order, (this->*make)());
  if (steps_.count() == 0 && config_.epochs == 0) {
    return error(Code::kEmpty, "an epoch has no steps (", pipeline_.source->count(), " samples, ",
                 steps_.slots(), " slots, global batch ", global_batch_text(),
                 "), and epochs=0 repeats it without a limit");
  }
  orders_ = std::make_shared<const OrderVersions>(make_version(std::move(order), config_.indices));
  return Status::ok();
}

// With shuffle=window: where the blocks of the set end.
Status Loader::cut_blocks(BlockEnds& ends) const {
  if (config_.shuffle != Shuffle::kWindow) return Status::ok();
  try {
    pipeline_.source->append_blocks(config_.shuffle_block, ends);
    return Status::ok();
  } catch (const OverBudget& refused) {
    Status status = refused.status("option shuffle_block: the table of its blocks");
    return error(Code::kOverBudget, status.text(), " or shuffle_block (", config_.shuffle_block, ")");
  }
}

// What is open at a time is up to four times shuffle_blocks: whole windows, the blocks at their ends, and those of batches that are
// read ahead. A set that can keep fewer open would open some again and again.
void Loader::limit_open_blocks() {
  constexpr int64_t kOpenAtOnce = 4;
  if (config_.shuffle != Shuffle::kWindow) return;
  const int64_t held = pipeline_.source->facts().held_blocks;
  const int64_t most = std::max<int64_t>(held / kOpenAtOnce, 1);
  if (config_.shuffle_blocks <= most) return;
  log_(config_.shuffle_blocks_given ? LogLevel::kWarning : LogLevel::kInfo,
       concat("option shuffle_blocks: ", config_.shuffle_blocks, " is lowered to ", most,
              ": the dataset can keep ", held, " of its blocks open"));
  config_.shuffle_blocks = most;
}

// Bytes of the page cache that the blocks open on this rank take, at most.
double Loader::open_block_bytes(const Order& order) const {
  const double set =
      static_cast<double>(pipeline_.source->count()) * static_cast<double>(pipeline_.source->stored_bytes());
  const double open =
      2 * static_cast<double>(config_.shuffle_block) * static_cast<double>(config_.shuffle_blocks);
  return std::min(set, order.ranks_share_blocks() ? open : open / static_cast<double>(config_.world_size));
}

// With shuffle=window: what a state says of it, a line for the log, and a warning where blocks are gone from memory before
// their samples are drawn, so that each is read many times.
void Loader::note_windows(const Order& order) {
  if (config_.shuffle != Shuffle::kWindow) return;
  shuffle_text_ += concat(" shuffle_block=", config_.shuffle_block,
                          " shuffle_blocks=", config_.shuffle_blocks, order.parameters());
  const auto open = static_cast<int64_t>(open_block_bytes(order));
  log_(LogLevel::kInfo,
       concat("order: ", shuffle_text_, "; ", order.table_bytes(),
              " bytes for each open epoch; a block is requested up to ", order.steps_per_block(),
              " steps before its last sample; open blocks take up to ", open, " bytes of the page cache"));
  const MemoryLimit limit = memory_limit();
  if (open <= limit.bytes || is_in_memory(*pipeline_.source)) return;
  log_(LogLevel::kWarning, concat("options shuffle_block and shuffle_blocks: open blocks take up to ", open,
                                  " bytes of the page cache, and this process may use ", limit.bytes, " (",
                                  limit.origin, "): blocks would be read repeatedly; lower one of them (",
                                  config_.shuffle_block, " x ", config_.shuffle_blocks, ")"));
}

Result<std::unique_ptr<const Order>> Loader::make_order() {
  // Counted while it grows; the order has a copy of the final size.
  MetadataResource resource(memory_, MemoryKind::kTable);
  BlockEnds block_ends(&resource);
  DL_RETURN_IF_ERROR(cut_blocks(block_ends));
  const OrderSpec spec{.sample_count = pipeline_.source->count(),
                       .shuffle = config_.shuffle,
                       .seed = config_.seed,
                       .block_ends = block_ends,
                       .open_blocks = config_.shuffle_blocks,
                       .step_slots = config_.global_batch,
                       .indices = config_.indices.span(),
                       .weights = config_.weights.span(),
                       .has_indices = config_.indices.given,
                       .replacement = config_.replacement,
                       .samples_per_epoch = config_.samples_per_epoch,
                       .memory = memory_};
  if (config_.weights.given && config_.weights.count != spec.sample_count) {
    return error(Code::kBadOption, "option weights: expected ", spec.sample_count, ", one per sample, got ",
                 config_.weights.count);
  }
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const Order> order, Order::create(spec));
  steps_ = Steps(order->slots(), config_);
  note_windows(*order);
  if (config_.weights.given) {
    Digest digest;
    digest.add(std::as_bytes(config_.weights.span()));
    weights_digest_ = concat(digest.hex(), config_.replacement ? " with" : " without", " replacement");
  }
  return order;
}

Result<std::unique_ptr<const Order>> Loader::make_mixed_order() {
  MetadataResource resource(memory_, MemoryKind::kTable);
  BlockEnds block_ends(&resource);
  DL_RETURN_IF_ERROR(cut_blocks(block_ends));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const MixOrder> order,
                      make_mix_order(*mix_source_->facts().mix, config_, block_ends, memory_));
  mix_order_ = order.get();
  std::shared_ptr<const StepOrder> steps = order->steps();
  steps_ = steps == nullptr ? Steps(order->slots(), config_) : Steps(std::move(steps), config_);
  note_windows(*order);
  return std::unique_ptr<const Order>(std::move(order));
}

Result<std::unique_ptr<const Order>> Loader::make_bucket_order() {
  DL_ASSIGN_OR_RETURN(Buckets buckets,
                      make_buckets(pipeline_.source, config_, {memory_, token_.get(), log_}));
  steps_ = Steps(std::move(buckets.order.steps), config_);
  config_.adds_field = buckets.source != pipeline_.source;
  pipeline_.source = std::move(buckets.source);
  lengths_digest_ = std::move(buckets.digest);
  config_.bucket_table_bytes = buckets.table_bytes;
  return std::move(buckets.order.order);
}

std::string Loader::global_batch_text() const {
  return config_.bucket_edges.empty() ? concat(config_.global_batch) : numbers_text(config_.bucket_rows);
}

}  // namespace dataline
