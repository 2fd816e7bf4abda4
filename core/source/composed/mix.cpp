// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/mix.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/source/composed/parts.h"
#include "core/source/forward_source.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

// Of each part the group, and the groups.
struct Grouping {
  std::vector<MixGroup> groups;
  std::vector<int32_t> of_part;
};

class MixSource final : public ForwardSource {
 public:
  MixSource(SourceRef parts, Mix mix)
      : ForwardSource(std::move(parts)), mix_(std::move(mix)), facts_(source_->facts()) {
    facts_.mix = &mix_;
  }

  SourceInfo info() const override { return {"mix", "", source_->info().notes}; }
  const SourceFacts& facts() const override { return facts_; }
  void identify(IdentityBuilder& identity) const override {
    identity.add("mix");
    source_->identify(identity);
    for (int64_t part = 0; part < mix_.part_count(); ++part) identity.add_local(mix_.transform(part));
  }

 private:
  const Mix mix_;
  SourceFacts facts_;
};

Status check_sources(const MixRecipe& recipe) {
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    const SourceRef& source = recipe.parts[k].source;
    if (source == nullptr) return error(Code::kInvalidArgument, "mix: ", recipe.part_words(k), " is null");
    if (source->count() == 0) return error(Code::kEmpty, "mix: ", recipe.part_words(k), " has no samples");
    if (source->facts().mix != nullptr) {
      return error(Code::kUnsupported, "mix: ", recipe.part_words(k),
                   " is a mix; list its parts here instead, with their weights multiplied by its own");
    }
  }
  return Status::ok();
}

// What messages of the composed source call the parts.
std::vector<Part> to_parts(const MixRecipe& recipe) {
  std::vector<Part> parts;
  parts.reserve(recipe.parts.size());
  for (size_t k = 0; k < recipe.parts.size(); ++k)
    parts.push_back({"", recipe.parts[k].source, recipe.part_words(k)});
  return parts;
}

std::string types_text(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields)
    text +=
        concat(field_type_text(field), field.kind == FieldKind::kRagged ? " ragged " : " ", field.axes, ";");
  return text;
}

Result<Grouping> group_parts(const MixRecipe& recipe) {
  Grouping out;
  std::unordered_map<std::string, int32_t> known;
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    const MixPart& part = recipe.parts[k];
    const std::vector<Field>& fields = part.source->schema().fields;
    const auto next = static_cast<int32_t>(out.groups.size());
    const auto [found, added] =
        known.emplace(concat(part.transform.size(), " ", part.transform, types_text(fields)), next);
    out.of_part.push_back(found->second);
    if (added) {
      if (out.groups.size() == kMaxMixGroups) {
        return error(Code::kTooLarge, "mix: ", recipe.part_words(k), ": more than ", kMaxMixGroups,
                     " kinds of parts that differ in their transforms or shapes");
      }
      out.groups.push_back({static_cast<int64_t>(k), part.transform, fields});
      continue;
    }
    std::vector<Field>& stored = out.groups[static_cast<size_t>(found->second)].stored;
    for (size_t f = 0; f < fields.size(); ++f) merge_max_bytes(fields[f], stored[f]);
  }
  return out;
}

// The parts have transforms, or fields that are the same but for their shapes.
bool needs_groups(const MixRecipe& recipe) {
  const std::vector<Field>& first = recipe.parts[0].source->schema().fields;
  bool shapes_differ = false;
  for (const MixPart& part : recipe.parts) {
    if (!part.transform.empty()) return true;
    const std::vector<Field>& fields = part.source->schema().fields;
    if (fields.size() != first.size()) return false;
    for (size_t f = 0; f < fields.size(); ++f) {
      const Field &a = first[f], &b = fields[f];
      const bool same = a.name == b.name && a.kind == b.kind && a.dtype == b.dtype &&
                        a.shape.size() == b.shape.size() &&
                        (a.kind == FieldKind::kDense || a.shape == b.shape);
      if (!same) return false;
      shapes_differ = shapes_differ || a.shape != b.shape;
    }
  }
  return shapes_differ;
}

Status explain_misfit(Status status) {
  if (status.code() != Code::kMismatch) return status;
  return error(Code::kMismatch, status.message(),
               "; parts of a mix need the same fields: open them with the same keys (length, dtype, ...), or "
               "add transforms that make them equal");
}

}  // namespace

double Mix::drawn(int64_t part) const {
  const auto k = static_cast<size_t>(part);
  return by_repeats() ? repeats_[k] * static_cast<double>(samples(part)) : stages_[0].weights[k];
}

double Mix::share(int64_t part) const { return drawn(part) / sum_; }

SampleName sample_name(const Source& source, int64_t record) {
  const Mix* mix = source.facts().mix;
  if (mix == nullptr) return {0, record};
  const int64_t part = mix->part_of(record);
  return {part, record - mix->start(part)};
}

Status refuse_grouped(const Source& source, std::string_view what) {
  if (const Mix* mix = source.facts().mix; mix == nullptr || !mix->grouped()) return Status::ok();
  return error(Code::kUnsupported, what,
               ": not supported for a mix whose parts have their own transforms or shapes: only a loader "
               "builds its samples");
}

std::string sample_text(const Source& source, int64_t record) {
  const SampleName name = sample_name(source, record);
  const std::string text = concat("sample ", name.index);
  const Mix* mix = source.facts().mix;
  return mix == nullptr ? text : concat(text, " of part ", mix->name(name.source));
}

Status with_record(Status status, const Source& source, int64_t record) {
  const SampleName name = sample_name(source, record);
  return std::move(status).with_sample(name.index, name.source);
}

Result<SourceRef> mix_sources(MixRecipe recipe) {
  DL_RETURN_IF_ERROR(check_recipe(recipe));
  DL_RETURN_IF_ERROR(check_sources(recipe));
  DL_ASSIGN_OR_RETURN(Grouping grouping,
                      needs_groups(recipe) ? group_parts(recipe) : Result<Grouping>(Grouping()));
  const bool alike = grouping.groups.size() <= 1;  // as they are stored
  Result<SourceRef> composed =
      alike ? concat_sources(to_parts(recipe), "mix") : concat_records(to_parts(recipe), "mix");
  if (!composed.is_ok()) return explain_misfit(composed.take_status());
  std::vector<int64_t> counts;
  counts.reserve(recipe.parts.size());
  for (const MixPart& part : recipe.parts) counts.push_back(part.source->count());
  DL_ASSIGN_OR_RETURN(ShardIndex index, ShardIndex::create(counts));
  Mix mix(std::move(index));
  if (recipe.by_repeats()) {
    for (const MixPart& part : recipe.parts) mix.repeats_.push_back(part.repeat);
  } else {
    mix.stages_.push_back({0, recipe.weights()});
    std::move(recipe.schedule.begin(), recipe.schedule.end(), std::back_inserter(mix.stages_));
  }
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    mix.names_.push_back(recipe.part_name(k));
    mix.uris_.push_back(std::move(recipe.parts[k].uri));
  }
  if (alike) {
    mix.groups_.push_back({0, recipe.parts[0].transform, composed.value()->schema().fields});
  } else {
    mix.groups_ = std::move(grouping.groups);
    mix.group_of_ = std::move(grouping.of_part);
  }
  mix.samples_per_epoch_ = recipe.samples_per_epoch;
  for (int64_t k = 0; k < mix.part_count(); ++k) mix.sum_ += mix.drawn(k);
  return SourceRef(std::make_shared<MixSource>(composed.take(), std::move(mix)));
}

}  // namespace dataline
