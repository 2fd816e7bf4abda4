// SPDX-License-Identifier: Apache-2.0
#include "core/loader/buckets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr size_t kMaxBuckets = 1024;                  // a step looks for its bucket among them
constexpr int64_t kMaxEdge = int64_t{1} << 40;        // as max_tokens
constexpr int64_t kMaxBucketRows = int64_t{1} << 40;  // as batch_size
constexpr const char* kLengthField = "length";
constexpr size_t kMaxNumbersText = 512;    // so that a state stays small
constexpr int64_t kCancelEvery = 1 << 16;  // samples between two looks at the token

Result<std::vector<int64_t>> parse_edges(std::string_view text) {
  std::vector<int64_t> edges;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<int64_t> edge = parse_i64(trim(part));
    if (!edge || *edge < 1 || *edge > kMaxEdge) {
      return error(Code::kBadOption, "option bucket_edges: expected whole numbers from 1 to ", kMaxEdge,
                   ", as in 128,256,512, got '", part, "'");
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
  if (config.indices.given) other = "sample_indices";
  if (config.weights.given) other = "weights";
  if (other != nullptr) {
    return error(Code::kBadOption, "options bucket_edges and ", other,
                 ": expected one of the two, got both: a bucket takes every sample once an epoch");
  }
  if (config.shuffle == Shuffle::kNone || config.shuffle == Shuffle::kFull) return Status::ok();
  return error(Code::kBadOption, "options bucket_edges and shuffle: expected shuffle=none or full, got ",
               option_word(Option::kShuffle, config.shuffle));
}

// Rows of a full step of each bucket, over all ranks.
Status read_rows(const Options& options, LoaderConfig& config) {
  const bool global = options.is_set(Option::kGlobalBatchSize);
  const bool limited = global || options.is_set(Option::kBatchSize) || config.max_tokens < 0;
  const int64_t batch = options.integer(global ? Option::kGlobalBatchSize : Option::kBatchSize);
  const int64_t most = limited ? batch : kMaxBucketRows;
  if (config.max_tokens >= 0 && config.max_tokens < config.bucket_edges.back()) {
    return error(Code::kBadOption, "option max_tokens: expected at least the last of bucket_edges, ",
                 config.bucket_edges.back(), ", got ", config.max_tokens);
  }
  for (const int64_t edge : config.bucket_edges) {
    const int64_t rows = config.max_tokens < 0 ? most : std::min(most, config.max_tokens / edge);
    const std::optional<int64_t> all = checked_multiply(rows, global ? 1 : config.world_size);
    if (!all || *all > kMaxBucketRows) {
      return error(Code::kBadOption, "option ", config.max_tokens < 0 ? "batch_size" : "max_tokens",
                   ": a step of ", rows, " rows on each of ", config.world_size, " ranks is too large");
    }
    config.bucket_rows.push_back(*all);
  }
  return Status::ok();
}

// One a sample, and what keeps them.
struct Lengths {
  std::span<const int64_t> values;
  std::shared_ptr<const void> owner;
};

Result<Lengths> lengths_of(const Source& source, const LoaderConfig& config, HostMemory& memory,
                           const CancelToken* token) {
  const int64_t count = source.count();
  if (config.lengths.given) {
    if (config.lengths.count != count) {
      return error(Code::kBadOption, "option lengths: expected one a sample, ", count, ", got ",
                   config.lengths.count);
    }
    return Lengths{config.lengths.span(), config.lengths.data};
  }
  const std::optional<int64_t> bytes = checked_multiply(count, sizeof(int64_t));
  if (!bytes)
    return error(Code::kOverBudget, "option bucket_edges: ", count, " lengths do not fit any memory");
  DL_ASSIGN_OR_RETURN(Block block,
                      memory.allocate(*bytes, 64, MemoryKind::kTable, "the lengths of the samples"));
  auto* const values = reinterpret_cast<int64_t*>(block.data());
  for (int64_t i = 0; i < count; ++i) {
    if (i % kCancelEvery == 0 && token != nullptr && token->cancelled()) return Status(Code::kCancelled, "");
    values[i] = source.record_items(i);
    if (values[i] >= 0) continue;
    return error(Code::kUnsupported, "option bucket_edges: only reading sample ", i,
                 " would tell its length; give the option lengths, one a sample")
        .with_sample(i);
  }
  auto owner = std::make_shared<const Block>(std::move(block));
  return Lengths{{values, static_cast<size_t>(count)}, std::move(owner)};
}

// The set with one more field, `length`.
class WithLength final : public ForwardSource {
 public:
  WithLength(SourceRef source, Lengths lengths)
      : ForwardSource(std::move(source)), lengths_(std::move(lengths)), schema_(source_->schema()) {
    Field field;
    field.name = kLengthField;
    field.dtype = DType::kI64;
    column_ = schema_.columns.size();
    schema_.places.push_back({.column = static_cast<int32_t>(column_)});
    schema_.columns.push_back({field.bytes()});
    schema_.fields.push_back(std::move(field));
  }

  const Schema& schema() const override { return schema_; }
  void locate(Run& run) const override {
    source_->locate(run);
    Run::ColumnRows& rows = run.columns[column_];
    for (int64_t i = 0; i < run.count; ++i)
      rows.data[i] =
          reinterpret_cast<const std::byte*>(&lengths_.values[static_cast<size_t>(run.indices[i])]);
    rows.contiguous = run.contiguous && run.errors->empty();
    for (const RowError& failed : run.errors->all()) rows.data[failed.row] = nullptr;
  }
  Place place_of(int64_t index, size_t column) const override {
    return source_->place_of(index, column == column_ ? 0 : column);
  }

 private:
  Lengths lengths_;
  Schema schema_;
  size_t column_ = 0;
};

SourceRef with_length_field(SourceRef source, Lengths lengths) {
  const std::vector<Field>& fields = source->schema().fields;
  if (std::any_of(fields.begin(), fields.end(), [](const Field& f) { return f.name == kLengthField; }))
    return source;
  return std::make_shared<WithLength>(std::move(source), std::move(lengths));
}

}  // namespace

std::string numbers_text(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) text += concat(text.empty() ? "" : ",", number);
  if (text.size() <= kMaxNumbersText) return text;
  Digest digest;
  digest.add(std::as_bytes(numbers));
  return concat(numbers.size(), " numbers, digest ", digest.hex());
}

Status read_buckets(const Options& options, LoaderConfig& config) {
  if (!options.is_set(Option::kBucketEdges)) {
    if (config.lengths.given) return error(Code::kBadOption, "option lengths: needs bucket_edges");
    if (config.max_tokens >= 0) return error(Code::kBadOption, "option max_tokens: needs bucket_edges");
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(config.bucket_edges, parse_edges(options.text(Option::kBucketEdges)));
  DL_RETURN_IF_ERROR(check_conflicts(config));
  return read_rows(options, config);
}

Result<Buckets> make_buckets(SourceRef source, const LoaderConfig& config,
                             const std::shared_ptr<HostMemory>& memory, const CancelToken* token) {
  DL_ASSIGN_OR_RETURN(Lengths lengths, lengths_of(*source, config, *memory, token));
  Buckets out;
  DL_ASSIGN_OR_RETURN(out.order, bucket_order({.lengths = lengths.values,
                                               .edges = config.bucket_edges,
                                               .rows = config.bucket_rows,
                                               .drop_short_steps = config.last_batch == LastBatch::kDrop,
                                               .shuffle = config.shuffle,
                                               .seed = config.seed,
                                               .memory = memory.get()}));
  Digest digest;
  digest.add(std::as_bytes(lengths.values));
  out.digest = digest.hex();
  out.source = with_length_field(std::move(source), std::move(lengths));
  return out;
}

}  // namespace dataline
