// SPDX-License-Identifier: Apache-2.0
#include "core/loader/parts.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/message_text.h"
#include "core/loader/config/buckets.h"
#include "core/loader/config/order.h"

namespace dataline {
namespace {

// More parts enter a state as a digest, so that it stays below a megabyte.
constexpr int64_t kMaxNamedParts = 4096;

using PartCount = std::pair<std::string_view, std::string_view>;  // name and samples, as in the line

// A name in the line of parts: without what separates them there.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '%' || c == ',' || c == '=') {
      out += c == '%' ? "%25" : c == ',' ? "%2C" : "%3D";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<PartCount> read_parts(std::string_view line) {
  std::vector<PartCount> parts;
  while (!line.empty()) {
    const size_t end = line.find(", ");
    const std::string_view part = line.substr(0, end);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return {};  // a digest
    parts.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 2);
  }
  return parts;
}

void add_numbers(std::span<const double> numbers, Digest& digest) {
  for (const double number : numbers) digest.add(std::bit_cast<uint64_t>(number));
}

}  // namespace

Status check_mix_options(const Mix* mix, const OrderConfig& config, const BucketConfig& buckets) {
  if (mix == nullptr) {
    if (config.homogeneous == Homogeneous::kNone) return Status::ok();
    return error(Code::kBadOption, "option homogeneous: homogeneous=batch needs a mix of datasets");
  }
  if (config.weights.given) {
    return error(
        Code::kBadOption,
        "option weights: not supported for a mix of datasets, whose recipe sets the shares of its parts");
  }
  if (!buckets.edges.empty()) {
    return error(Code::kBadOption,
                 "option bucket_edges: not supported for a mix of datasets, whose recipe sets the shares of "
                 "its parts");
  }
  if (config.indices.given && config.homogeneous == Homogeneous::kBatch) {
    return error(Code::kBadOption, "options sample_indices and homogeneous: set only one of the two");
  }
  return Status::ok();
}

Result<std::unique_ptr<const MixOrder>> make_mix_order(const Mix& mix, const OrderConfig& config,
                                                       const Steps& steps,
                                                       std::span<const int64_t> block_ends,
                                                       std::shared_ptr<HostMemory> memory) {
  std::vector<MixOrderStage> stages;
  for (const MixStage& stage : mix.stages()) stages.push_back({stage.step, stage.weights});
  return MixOrder::create({.starts = mix.starts(),
                           .shuffle = config.shuffle,
                           .seed = config.seed,
                           .block_ends = block_ends,
                           .open_blocks = config.shuffle_blocks,
                           .repeats = mix.repeats(),
                           .stages = stages,
                           .global_batch = steps.global_batch(),
                           .samples_per_epoch = mix.samples_per_epoch(),
                           .drops_last = steps.drops_short_steps(),
                           .homogeneous = config.homogeneous == Homogeneous::kBatch,
                           .memory = std::move(memory)});
}

std::string mix_parts_text(const Mix& mix) {
  std::string parts;
  if (mix.part_count() <= kMaxNamedParts) {
    for (int64_t k = 0; k < mix.part_count(); ++k)
      parts += concat(k == 0 ? "" : ", ", escaped(mix.name(k)), "=", mix.samples(k));
    return parts;
  }
  Digest digest;
  for (int64_t k = 0; k < mix.part_count(); ++k) {
    digest.add(mix.name(k));
    digest.add(static_cast<uint64_t>(mix.samples(k)));
  }
  return concat(mix.part_count(), " parts, digest ", digest.hex());
}

std::string mix_recipe_text(const Mix& mix, const OrderConfig& config) {
  Digest digest;
  add_numbers(mix.repeats(), digest);
  for (const MixStage& stage : mix.stages()) {
    digest.add(static_cast<uint64_t>(stage.step));
    add_numbers(stage.weights, digest);
  }
  digest.add(static_cast<uint64_t>(mix.samples_per_epoch()));
  return concat(mix.by_repeats() ? "repeats " : "weights ", digest.hex(),
                config.homogeneous == Homogeneous::kBatch ? ", homogeneous batches" : "");
}

std::string parts_difference(std::string_view saved, std::string_view here) {
  const std::vector<PartCount> before = read_parts(saved), now = read_parts(here);
  const auto find = [](const std::vector<PartCount>& parts, std::string_view name) {
    for (const PartCount& part : parts) {
      if (part.first == name) return &part;
    }
    return static_cast<const PartCount*>(nullptr);
  };
  if (before.empty() || now.empty())
    return concat("the parts of the mix are ", printable(saved, 80), " in the state, ", printable(here, 80),
                  " here");
  for (const PartCount& part : now) {
    const PartCount* known = find(before, part.first);
    if (known == nullptr) return concat("part ", part.first, " is not in the state's mix");
    if (known->second != part.second)
      return concat("part ", part.first, ": ", part.second, " samples, saved with ", known->second);
  }
  for (const PartCount& part : before) {
    if (find(now, part.first) == nullptr)
      return concat("part ", part.first, " of the state's mix is missing here");
  }
  return concat("the parts of the mix are in another order: ", printable(saved, 80), " in the state, ",
                printable(here, 80), " here");
}

}  // namespace dataline
