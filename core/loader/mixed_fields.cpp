// SPDX-License-Identifier: Apache-2.0
#include "core/loader/mixed_fields.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/loader/config/sample.h"
#include "core/loader/dataset.h"
#include "core/loader/extensions.h"
#include "core/loader/options.h"
#include "core/loader/pipeline.h"
#include "core/source/composed/mix.h"
#include "core/source/forward_source.h"

namespace dataline {
namespace {

class MixedFields final : public ForwardSource {
 public:
  MixedFields(SourceRef source, std::vector<Field> fields)
      : ForwardSource(std::move(source)), schema_(source_->schema()) {
    schema_.fields = std::move(fields);
    // A field that is made anew lies in no bytes of others.
    for (FieldPlace& place : schema_.places) place.shared = false;
  }

  const Schema& schema() const override { return schema_; }

 private:
  Schema schema_;
};

bool same_but_for_sizes(const Field& a, const Field& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.shape.size() == b.shape.size() &&
         a.to_bucket == b.to_bucket && (a.axes == b.axes || a.axes.empty() || b.axes.empty());
}

std::string typed(const Field& field) {
  return concat(field_type_text(field), field.axes.empty() ? "" : concat(" (", field.axes, ")"));
}

// Joins the sizes of another group. False where one field cannot have both: rows of varying length, or images whose size is
// only known once they are decoded.
bool join_sizes(const Field& other, Field& field) {
  if (!field.by_part && field.shape == other.shape) return true;
  if (field.kind != FieldKind::kDense || other.varies() || (field.varies() && !field.by_part)) return false;
  field.max_bytes = std::max(field.by_part ? field.max_bytes : field.bytes(), other.bytes());
  for (size_t d = 0; d < field.shape.size(); ++d) {
    if (field.shape[d] != other.shape[d]) field.shape[d] = -1;
  }
  field.by_part = true;
  return true;
}

std::string part_words_of(const Mix& mix, size_t group) {
  return concat("part ", mix.name(mix.groups()[group].first_part));
}

// Joins the fields of a group to those of the groups before it.
Status merge_group(const Mix& mix, size_t group, bool sizes_by_part, const std::vector<Field>& others,
                   std::vector<Field>& fields) {
  for (size_t f = 0; f < fields.size(); ++f) {
    Field joined = fields[f];
    const bool alike = same_but_for_sizes(joined, others[f]);
    const bool fits =
        alike && (sizes_by_part ? join_sizes(others[f], joined) : joined.shape == others[f].shape);
    if (!fits) {
      const bool sizes_would = alike && !sizes_by_part && join_sizes(others[f], joined);
      return error(Code::kMismatch, part_words_of(mix, group), ": field '", others[f].name, "' becomes ",
                   typed(others[f]), ", in ", part_words_of(mix, 0), " it becomes ", typed(fields[f]),
                   sizes_would
                       ? "; open the parts with the same keys, add transforms that make them equal, or take "
                         "each batch from one part (homogeneous=batch)"
                       : "; open the parts with the same keys, or add transforms that make them equal");
    }
    if (joined.axes != others[f].axes) joined.axes.clear();
    if (joined.kind == FieldKind::kRagged) {
      const bool known = joined.max_bytes >= 0 && others[f].max_bytes >= 0;
      joined.max_bytes = known ? std::max(joined.max_bytes, others[f].max_bytes) : -1;
    }
    fields[f] = std::move(joined);
  }
  return Status::ok();
}

std::vector<Field> outputs_of(const CompiledTransforms& compiled) {
  std::vector<Field> fields;
  for (const auto& program : compiled.programs) fields.push_back(program->output());
  return fields;
}

// A transform of a recipe is the recipe's fault, not an option's.
Status of_mix(const Source& source, const Status& status) {
  const std::string uri = source.info().uri;
  if (uri.empty()) return error(status.code(), "mix: ", status.message());
  const bool of_recipe = status.code() == Code::kBadTransform || status.code() == Code::kNoSuchField;
  return error(of_recipe ? Code::kCorrupt : status.code(), uri, ": ", status.message());
}

// What the transforms of a group's part are compiled with when the mix is made. Nothing of a loader is known yet.
TransformSettings part_settings(const Source& source, const Options& options, int64_t first_record) {
  TransformSettings settings;
  if (options.extensions != nullptr) settings.operators = options.extensions->operators;
  settings.first_header = [&source, first_record](size_t field) -> Result<ImageHeader> {
    DL_ASSIGN_OR_RETURN(const ImageFacts first, image_facts_of(source, field, first_record, kImageRoomBytes));
    return first.header;
  };
  return settings;
}

Result<std::vector<Field>> fields_of_group(const Source& source, const Options& options, size_t group) {
  const Mix& mix = *source.facts().mix;
  const MixGroup& parts = mix.groups()[group];
  const TransformSettings settings = part_settings(source, options, mix.start(parts.first_part));
  DL_ASSIGN_OR_RETURN(const CompiledTransforms compiled,
                      compile_transforms(parts.transform, parts.stored, settings));
  if (!compiled.mixes.empty()) {
    return error(Code::kBadTransform,
                 "transform: mixup and cutmix work on finished batches of all parts: put them into the "
                 "loader's transform");
  }
  return outputs_of(compiled);
}

}  // namespace

std::span<const Field> stored_fields(const Source& source, size_t group) {
  const Mix* const mix = source.facts().mix;
  return mix == nullptr || !mix->grouped() ? source.schema().fields : mix->groups()[group].stored;
}

Result<SourceRef> with_mixed_fields(SourceRef source, const Options& options) {
  const Mix* const mix = source->facts().mix;
  if (mix == nullptr || !mix->grouped()) return source;
  std::vector<Field> fields;
  for (size_t g = 0; g < mix->groups().size(); ++g) {
    Result<std::vector<Field>> made = fields_of_group(*source, options, g);
    if (!made.is_ok()) return of_mix(*source, made.take_status().in(part_words_of(*mix, g)));
    if (g == 0) {
      fields = made.take();
      continue;
    }
    Status status = merge_group(*mix, g, /*sizes_by_part=*/true, made.value(), fields);
    if (!status.is_ok()) return of_mix(*source, status);
  }
  return SourceRef(std::make_shared<MixedFields>(std::move(source), std::move(fields)));
}

Result<GroupTransforms> compile_groups(const Source& source, const SampleConfig& config,
                                       const BucketConfig& buckets, bool sizes_by_part) {
  GroupTransforms out;
  const Mix* const mix = source.facts().mix;
  if (mix == nullptr || !mix->grouped()) {
    const TransformSettings settings = transform_settings(source, config, buckets, 0);
    DL_ASSIGN_OR_RETURN(CompiledTransforms compiled,
                        compile_transforms(config.transform, source.schema().fields, settings));
    out.outputs = outputs_of(compiled);
    out.groups.push_back(std::move(compiled));
    return out;
  }
  std::vector<std::vector<std::vector<int64_t>>> shapes;
  for (size_t g = 0; g < mix->groups().size(); ++g) {
    const MixGroup& parts = mix->groups()[g];
    const TransformSettings settings =
        transform_settings(source, config, buckets, mix->start(parts.first_part));
    Result<CompiledTransforms> compiled =
        compile_transforms(parts.transform, config.transform, parts.stored, settings);
    if (!compiled.is_ok()) return compiled.take_status().in(part_words_of(*mix, g));
    const std::vector<Field> fields = outputs_of(compiled.value());
    if (g == 0)
      out.outputs = fields;
    else
      DL_RETURN_IF_ERROR(merge_group(*mix, g, sizes_by_part, fields, out.outputs));
    shapes.emplace_back();
    for (const Field& field : fields) shapes.back().push_back(field.shape);
    out.groups.push_back(compiled.take());
  }
  if (std::any_of(out.outputs.begin(), out.outputs.end(), [](const Field& f) { return f.by_part; }))
    out.part_shapes = std::move(shapes);
  return out;
}

}  // namespace dataline
