// The options that ask for buckets.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/loader/buckets.h"
#include "core/loader/config.h"
#include "core/loader/option_table.h"
#include "core/loader/options.h"

namespace dataline {
namespace {

constexpr size_t kMaxBuckets = 1024;                  // a step looks for its bucket among them
constexpr int64_t kMaxEdge = int64_t{1} << 40;        // as max_tokens
constexpr int64_t kMaxBucketRows = int64_t{1} << 40;  // as batch_size
constexpr size_t kMaxNumbersText = 512;               // so that a state stays small

std::optional<ImageBucket> parse_shape(std::string_view text) {
  const std::vector<std::string_view> sides = split(text, 'x');
  if (sides.size() != 2) return std::nullopt;
  const std::optional<int64_t> height = parse_i64(trim(sides[0])), width = parse_i64(trim(sides[1]));
  if (!height || !width || std::min(*height, *width) < 1 || std::max(*height, *width) > kMaxSide)
    return std::nullopt;
  return ImageBucket{*height, *width};
}

Result<std::vector<ImageBucket>> parse_shapes(std::string_view text) {
  std::vector<ImageBucket> shapes;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<ImageBucket> shape = parse_shape(part);
    if (!shape) {
      return error(Code::kBadOption,
                   "option bucket_edges: with bucket_by=aspect, expected shapes, height x width from 1 to ",
                   kMaxSide, ", as in 448x576,512x512, got '", part, "'");
    }
    for (const ImageBucket& other : shapes) {
      if (!same_aspect(*shape, other)) continue;
      return error(Code::kBadOption, "option bucket_edges: expected shapes of different aspect ratios, got ",
                   shape_text(*shape), " after ", shape_text(other), ": no image would go to the second one");
    }
    shapes.push_back(*shape);
    if (shapes.size() > kMaxBuckets)
      return error(Code::kBadOption, "option bucket_edges: expected at most ", kMaxBuckets, " shapes");
  }
  return shapes;
}

Result<std::vector<int64_t>> parse_edges(std::string_view text) {
  std::vector<int64_t> edges;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<int64_t> edge = parse_i64(trim(part));
    if (!edge || *edge < 1 || *edge > kMaxEdge) {
      return error(Code::kBadOption, "option bucket_edges: expected whole numbers from 1 to ", kMaxEdge,
                   ", as in 128,256,512, got '", part, "'",
                   parse_shape(part) ? "; shapes need bucket_by=aspect" : "");
    }
    if (!edges.empty() && *edge <= edges.back()) {
      return error(Code::kBadOption, "option bucket_edges: expected increasing numbers, got ", *edge,
                   " after ", edges.back());
    }
    edges.push_back(*edge);
    if (edges.size() > kMaxBuckets)
      return error(Code::kBadOption, "option bucket_edges: expected at most ", kMaxBuckets, " edges");
  }
  return edges;
}

Status check_conflicts(const LoaderConfig& config) {
  const char* other = nullptr;
  if (config.order.indices.given) other = "sample_indices";
  if (config.order.weights.given) other = "weights";
  if (other != nullptr) {
    return error(Code::kBadOption, "options bucket_edges and ", other,
                 ": set only one of the two: buckets deliver every sample once per epoch");
  }
  if (config.order.shuffle == Shuffle::kNone || config.order.shuffle == Shuffle::kFull) return Status::ok();
  return error(Code::kBadOption, "options bucket_edges and shuffle: expected shuffle=none or full, got ",
               option_word(Option::kShuffle, config.order.shuffle));
}

// Rows of a full step of each bucket, over all ranks: of every batch that a job with buckets has.
Status read_rows(const Options& options, LoaderConfig& config) {
  const bool global = options.is_set(Option::kGlobalBatchSize);
  const bool limited = global || options.is_set(Option::kBatchSize) || config.buckets.max_tokens < 0;
  const int64_t batch = options.integer(global ? Option::kGlobalBatchSize : Option::kBatchSize);
  const int64_t most = limited ? batch : kMaxBucketRows;
  const int64_t largest = *std::max_element(config.buckets.edges.begin(), config.buckets.edges.end());
  if (config.buckets.max_tokens >= 0 && config.buckets.max_tokens < largest) {
    const char* which = config.buckets.by == BucketBy::kAspect ? "the pixels of the largest of bucket_edges, "
                                                               : "the last of bucket_edges, ";
    return error(Code::kBadOption, "option max_tokens: expected at least ", which, largest, ", got ",
                 config.buckets.max_tokens);
  }
  config.steps.global_batches.clear();
  for (const int64_t edge : config.buckets.edges) {
    const int64_t rows =
        config.buckets.max_tokens < 0 ? most : std::min(most, config.buckets.max_tokens / edge);
    const std::optional<int64_t> all = checked_multiply(rows, global ? 1 : config.steps.world_size);
    if (!all || *all > kMaxBucketRows) {
      return error(Code::kBadOption, "option ", config.buckets.max_tokens < 0 ? "batch_size" : "max_tokens",
                   ": a step of ", rows, " rows on each of ", config.steps.world_size, " ranks is too large");
    }
    config.steps.global_batches.push_back(*all);
  }
  return Status::ok();
}

}  // namespace

std::string shape_text(const ImageBucket& shape) { return concat(shape.height, "x", shape.width); }

std::string numbers_text(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) text += concat(text.empty() ? "" : ",", number);
  if (text.size() <= kMaxNumbersText) return text;
  Digest digest;
  digest.add(std::as_bytes(numbers));
  return concat(numbers.size(), " numbers, digest ", digest.hex());
}

std::string buckets_text(const BucketConfig& config) {
  if (config.by == BucketBy::kLength) return numbers_text(config.edges);
  std::string text;
  for (const ImageBucket& shape : config.shapes) text += concat(text.empty() ? "" : ",", shape_text(shape));
  if (text.size() <= kMaxNumbersText) return text;
  Digest digest;
  digest.add(text);
  return concat(config.shapes.size(), " shapes, digest ", digest.hex());
}

Status read_buckets(const Options& options, LoaderConfig& config) {
  if (!options.is_set(Option::kBucketEdges)) {
    const char* alone = options.is_set(Option::kBucketBy) ? "bucket_by"
                        : config.buckets.lengths.given    ? "lengths"
                        : config.buckets.max_tokens >= 0  ? "max_tokens"
                                                          : nullptr;
    return alone == nullptr ? Status::ok()
                            : error(Code::kBadOption, "option ", alone, ": needs bucket_edges");
  }
  if (config.buckets.by == BucketBy::kAspect) {
    if (config.buckets.lengths.given) {
      return error(Code::kBadOption, "options bucket_by and lengths: set only one of the two: with ",
                   "bucket_by=aspect, image headers determine the shapes");
    }
    DL_ASSIGN_OR_RETURN(config.buckets.shapes, parse_shapes(options.text(Option::kBucketEdges)));
    for (const ImageBucket& shape : config.buckets.shapes)
      config.buckets.edges.push_back(shape.height * shape.width);
  } else {
    DL_ASSIGN_OR_RETURN(config.buckets.edges, parse_edges(options.text(Option::kBucketEdges)));
  }
  DL_RETURN_IF_ERROR(check_conflicts(config));
  return read_rows(options, config);
}

}  // namespace dataline
