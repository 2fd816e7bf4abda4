// SPDX-License-Identifier: Apache-2.0
#include "core/loader/buckets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/loader/aspect.h"
#include "core/loader/config/buckets.h"
#include "core/loader/config/order.h"
#include "core/loader/config/sample.h"
#include "core/loader/dataset.h"
#include "core/loader/pipeline.h"
#include "core/source/forward_source.h"

namespace dataline {
namespace {

constexpr const char* kLengthField = "length";
constexpr const char* kSizeField = "size";
constexpr int64_t kCancelEvery = 1 << 16;  // samples between two looks at the token

// Memory for one T a sample.
template <typename T>
Result<std::span<T>> table_of(int64_t count, HostMemory& memory, const char* what,
                              std::shared_ptr<const Block>& owner) {
  const std::optional<int64_t> bytes = checked_multiply(count, sizeof(T));
  if (!bytes) return error(Code::kOverBudget, what, ": ", count, " entries do not fit in memory");
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(*bytes, 64, MemoryKind::kTable, what));
  std::span<T> table(reinterpret_cast<T*>(block.data()), static_cast<size_t>(count));
  owner = std::make_shared<const Block>(std::move(block));
  return table;
}

// One a sample, and what keeps them.
struct Lengths {
  std::span<const int64_t> values;
  std::shared_ptr<const void> owner;
};

Result<Lengths> lengths_of(const Source& source, const BucketConfig& config, HostMemory& memory,
                           const CancelToken* token) {
  const int64_t count = source.count();
  if (config.lengths.given) {
    if (config.lengths.count != count) {
      return error(Code::kBadOption, "option lengths: expected ", count, ", one per sample, got ",
                   config.lengths.count);
    }
    return Lengths{config.lengths.span(), config.lengths.data};
  }
  std::shared_ptr<const Block> owner;
  DL_ASSIGN_OR_RETURN(const std::span<int64_t> values,
                      table_of<int64_t>(count, memory, "the lengths of the samples", owner));
  for (int64_t i = 0; i < count; ++i) {
    if (i % kCancelEvery == 0 && token != nullptr && token->cancelled()) return Status(Code::kCancelled, "");
    values[static_cast<size_t>(i)] = source.record_items(i);
    if (values[static_cast<size_t>(i)] >= 0) continue;
    return error(Code::kUnsupported, "option bucket_edges: the length of sample ", i,
                 " is not known without reading it; set the option lengths, one per sample")
        .with_sample(i);
  }
  return Lengths{values, std::move(owner)};
}

// The set with one more field, whose rows lie one after another in `values`.
class WithField final : public ForwardSource {
 public:
  WithField(SourceRef source, Field field, const void* values, std::shared_ptr<const void> owner)
      : ForwardSource(std::move(source)),
        owner_(std::move(owner)),
        values_(static_cast<const std::byte*>(values)),
        row_bytes_(field.bytes()),
        schema_(source_->schema()) {
    column_ = schema_.columns.size();
    schema_.places.push_back({.column = static_cast<int32_t>(column_)});
    schema_.columns.push_back({row_bytes_});
    schema_.fields.push_back(std::move(field));
  }

  const Schema& schema() const override { return schema_; }
  // The added values are the caller's, who may give others next time.
  std::optional<uint64_t> stamp(int64_t index) const override {
    const std::optional<uint64_t> stored = source_->stamp(index);
    if (!stored) return std::nullopt;
    Digest digest;
    digest.add(*stored);
    digest.add(Bytes(values_ + index * row_bytes_, static_cast<size_t>(row_bytes_)));
    return digest.value();
  }
  void locate(Run& run) const override {
    source_->locate(run);
    Run::ColumnRows& rows = run.columns[column_];
    for (int64_t i = 0; i < run.count; ++i) rows.data[i] = values_ + run.indices[i] * row_bytes_;
    rows.contiguous = run.contiguous && run.errors->empty();
    for (const RowError& failed : run.errors->all()) rows.data[failed.row] = nullptr;
  }
  Place place_of(int64_t index, size_t column) const override {
    return source_->place_of(index, column == column_ ? 0 : column);
  }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* values_;
  int64_t row_bytes_;
  Schema schema_;
  size_t column_ = 0;
};

Field added_field(const char* name, DType dtype, std::vector<int64_t> shape) {
  Field field;
  field.name = name;
  field.dtype = dtype;
  field.shape = std::move(shape);
  return field;
}

// The set itself if it has a field of this name.
SourceRef with_field(SourceRef source, Field field, const void* values, std::shared_ptr<const void> owner) {
  const std::vector<Field>& fields = source->schema().fields;
  if (std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field.name; }))
    return source;
  return std::make_shared<WithField>(std::move(source), std::move(field), values, std::move(owner));
}

BucketSpec spec_of(const BucketContext& context, int64_t samples) {
  return {.samples = samples,
          .bucket_of = nullptr,
          .rows = context.steps.global_batches(),
          .drop_short_steps = context.steps.drops_short_steps(),
          .shuffle = context.order.shuffle,
          .seed = context.order.seed,
          .memory = context.memory.get()};
}

Result<Buckets> buckets_by_length(SourceRef source, const BucketConfig& config,
                                  const BucketContext& context) {
  DL_ASSIGN_OR_RETURN(Lengths lengths, lengths_of(*source, config, *context.memory, context.token));
  DL_RETURN_IF_ERROR(check_lengths(lengths.values, config.edges));
  BucketSpec spec = spec_of(context, source->count());
  spec.bucket_of = [&](int64_t sample) {
    return bucket_of_length(config.edges, lengths.values[static_cast<size_t>(sample)]);
  };
  Buckets out;
  DL_ASSIGN_OR_RETURN(out.order, bucket_order(spec));
  if (!config.lengths.given) out.table_bytes = static_cast<int64_t>(lengths.values.size_bytes());
  Digest digest;
  digest.add(std::as_bytes(lengths.values));
  out.digest = digest.hex();
  out.source = with_field(std::move(source), added_field(kLengthField, DType::kI64, {}),
                          lengths.values.data(), std::move(lengths.owner));
  return out;
}

// How many images each shape has.
std::string counts_text(std::span<const ImageBucket> shapes, const BucketOrder& order) {
  constexpr size_t kMostTold = 64;
  std::string text;
  for (size_t s = 0; s < shapes.size() && s < kMostTold; ++s)
    text += concat(s == 0 ? "" : ", ", shape_text(shapes[s]), " ", order.steps->groups()[s].slots);
  return shapes.size() > kMostTold ? text + ", ..." : text;
}

Result<Buckets> buckets_by_aspect(const SourceRef& source, const BucketConfig& config,
                                  const BucketContext& context) {
  Result<size_t> field = image_field(source->schema().fields, std::nullopt);
  if (!field.is_ok()) return field.take_status().in("option bucket_by: aspect");
  const int64_t count = source->count();
  std::shared_ptr<const Block> sizes_owner, shapes_owner;
  DL_ASSIGN_OR_RETURN(const std::span<StoredSize> sizes,
                      table_of<StoredSize>(count, *context.memory, "the sizes of the images", sizes_owner));
  DL_ASSIGN_OR_RETURN(const std::span<uint16_t> shape_of,
                      table_of<uint16_t>(count, *context.memory, "the shapes of the images", shapes_owner));
  Buckets out;
  out.table_bytes = static_cast<int64_t>(sizes.size_bytes());
  out.source = with_field(source, added_field(kSizeField, DType::kI32, {2}), sizes.data(), sizes_owner);
  BucketConfig with_size = config;
  with_size.adds_field = out.source != source;
  // Before any header is read: what is wrong with the transform is told at once. And whether images are turned.
  DL_ASSIGN_OR_RETURN(const CompiledTransforms compiled,
                      compile_transforms(context.sample.transform, out.source->schema().fields,
                                         transform_settings(*out.source, context.sample, with_size, 0)));
  DL_RETURN_IF_ERROR(read_shapes({.source = source.get(),
                                  .field = field.value(),
                                  .upright = compiled.upright[field.value()],
                                  .max_bytes_per_sample = context.sample.max_bytes_per_sample,
                                  .shapes = config.shapes,
                                  .memory = context.memory.get(),
                                  .token = context.token,
                                  .log = context.log},
                                 sizes, shape_of));
  BucketSpec spec = spec_of(context, count);
  spec.bucket_of = [&](int64_t sample) { return size_t{shape_of[static_cast<size_t>(sample)]}; };
  DL_ASSIGN_OR_RETURN(out.order, bucket_order(spec));
  context.log(LogLevel::kInfo, concat("images by shape: ", counts_text(config.shapes, out.order)));
  Digest digest;
  digest.add(std::as_bytes(shape_of));
  out.digest = digest.hex();
  return out;
}

}  // namespace

Result<Buckets> make_buckets(SourceRef source, const BucketConfig& config, const BucketContext& context) {
  if (config.by == BucketBy::kAspect) return buckets_by_aspect(source, config, context);
  return buckets_by_length(std::move(source), config, context);
}

}  // namespace dataline
