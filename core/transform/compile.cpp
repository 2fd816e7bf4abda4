// SPDX-License-Identifier: Apache-2.0
#include "core/transform/compile.h"

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/transform/grammar.h"
#include "core/transform/operators.h"
#include "core/transform/plan.h"

namespace dataline {
namespace {

constexpr std::string_view kUsualField = "image";

std::string list_of(std::span<const Field> fields) {
  std::string out;
  for (const Field& field : fields) out += concat(out.empty() ? "" : ", ", field.name);
  return out;
}

Status no_such_field(int64_t column, std::span<const Field> fields, std::string_view got) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return error(Code::kNoSuchField, "transform: column ", column, ": expected a field (", list_of(fields),
               "), got ", quote(got), did_you_mean(got, names))
      .with_column(column);
}

std::optional<size_t> find_field(std::span<const Field> fields, std::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return std::nullopt;
}

// The fields a clause is about, by index.
Result<std::vector<size_t>> fields_of(const ClauseSyntax& clause, std::span<const Field> fields) {
  std::vector<size_t> out;
  for (const FieldSyntax& named : clause.fields) {
    std::optional<size_t> index = find_field(fields, named.name);
    if (!index) return no_such_field(named.column, fields, named.name);
    out.push_back(*index);
  }
  if (!out.empty()) return out;
  if (fields.size() == 1) return std::vector<size_t>{0};
  if (std::optional<size_t> index = find_field(fields, kUsualField)) return std::vector<size_t>{*index};
  return error(Code::kNoSuchField, "transform: column ", clause.column, ": expected a field name (",
               list_of(fields), ") before these operators, got none")
      .with_column(clause.column);
}

Status add_calls(const ClauseSyntax& clause, Plan& plan) {
  for (const CallSyntax& call : clause.calls) {
    const Operator* found = find_operator(call.name);
    if (found == nullptr)
      return transform_error(call.column, "expected an operator, got ", quote(call.name),
                             nearest_operator(call.name));
    if (plan.mix())
      return transform_error(call.column,
                             "expected nothing after mixup or cutmix, which take finished batches, ", "got ",
                             quote(call.name), "; put it before");
    DL_ASSIGN_OR_RETURN(const Arguments arguments, Arguments::bind(call, found->info));
    DL_RETURN_IF_ERROR(found->add(arguments, plan));
    plan.next_operator(call.text);
  }
  return Status::ok();
}

Status want_labels(const MixRequest& mix, const Field& labels) {
  const bool soft =
      labels.kind == FieldKind::kDense && dtype_is_float(labels.dtype) && labels.shape.size() == 1;
  if (soft) return Status::ok();
  return transform_error(mix.labels_column, mix.kind == MixKind::kMixup ? "mixup" : "cutmix",
                         ": labels: expected one float a class, got ", quote(labels.name), " of ",
                         field_type_text(labels), "; one_hot(n) makes them: '", labels.name, ": one_hot(n)'");
}

// What the plans ask for on finished batches.
Result<std::vector<BatchMix>> mixes_of(std::span<const Plan> plans, std::span<const Field> fields) {
  std::vector<BatchMix> mixes;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].mix()) continue;
    const MixRequest& asked = *plans[i].mix();
    const std::optional<size_t> labels = find_field(fields, asked.labels);
    if (!labels) return no_such_field(asked.labels_column, fields, asked.labels);
    if (plans[*labels].mix())
      return transform_error(asked.labels_column, "expected labels in a field of their own, got ",
                             quote(asked.labels), ", which is mixed as an image");
    DL_RETURN_IF_ERROR(want_labels(asked, plans[*labels].field()));
    for (const BatchMix& other : mixes) {
      if (other.labels == *labels)
        return transform_error(asked.column, "expected labels to be mixed once, got ", quote(asked.labels),
                               " twice");
    }
    mixes.push_back({.kind = asked.kind,
                     .alpha = asked.alpha,
                     .image = i,
                     .labels = *labels,
                     .place = asked.place,
                     .shape = asked.shape});
  }
  return mixes;
}

// What the text makes of each field.
Result<std::vector<Plan>> plans_of(SimdTarget target, std::string_view text, std::span<const Field> fields,
                                   const TransformSettings& settings) {
  DL_ASSIGN_OR_RETURN(const std::vector<ClauseSyntax> clauses, parse_transforms(text));
  std::vector<Plan> plans;
  for (size_t i = 0; i < fields.size(); ++i) plans.emplace_back(fields[i], i, settings, target);
  std::vector<bool> given(fields.size());
  for (const ClauseSyntax& clause : clauses) {
    DL_ASSIGN_OR_RETURN(const std::vector<size_t> indices, fields_of(clause, fields));
    for (size_t i = 0; i < indices.size(); ++i) {
      const size_t index = indices[i];
      const int64_t column = clause.fields.empty() ? clause.column : clause.fields[i].column;
      if (given[index])
        return transform_error(column, "expected each field once, got ", quote(fields[index].name), " twice");
      given[index] = true;
      Status status = add_calls(clause, plans[index]);
      if (status.is_ok()) continue;
      if (indices.size() == 1) return status;
      return std::move(status).in(concat("field ", quote(fields[index].name)));
    }
  }
  Result<std::vector<BatchMix>> mixes = mixes_of(plans, fields);
  if (!mixes.is_ok()) return mixes.take_status();
  return plans;
}

}  // namespace

Result<std::vector<std::unique_ptr<const Program>>> compile_transforms_for(
    SimdTarget target, std::string_view text, std::span<const Field> fields,
    const TransformSettings& settings) {
  DL_ASSIGN_OR_RETURN(std::vector<Plan> plans, plans_of(target, text, fields, settings));
  std::vector<std::unique_ptr<const Program>> programs;
  for (Plan& plan : plans) programs.push_back(std::move(plan).finish());
  return programs;
}

Result<std::vector<std::unique_ptr<const Program>>> compile_transforms(std::string_view text,
                                                                       std::span<const Field> fields,
                                                                       const TransformSettings& settings) {
  return compile_transforms_for(best_simd_target(), text, fields, settings);
}

Result<std::vector<std::optional<DeviceSplit>>> split_transforms_for(SimdTarget target, std::string_view text,
                                                                     std::span<const Field> fields,
                                                                     const TransformSettings& settings) {
  DL_ASSIGN_OR_RETURN(std::vector<Plan> plans, plans_of(target, text, fields, settings));
  std::vector<std::optional<DeviceSplit>> splits;
  for (Plan& plan : plans) splits.push_back(std::move(plan).split());
  return splits;
}

Result<std::vector<std::optional<DeviceSplit>>> split_transforms(std::string_view text,
                                                                 std::span<const Field> fields,
                                                                 const TransformSettings& settings) {
  return split_transforms_for(best_simd_target(), text, fields, settings);
}

Result<std::vector<BatchMix>> batch_mixes(std::string_view text, std::span<const Field> fields,
                                          const TransformSettings& settings) {
  DL_ASSIGN_OR_RETURN(const std::vector<Plan> plans, plans_of(best_simd_target(), text, fields, settings));
  return mixes_of(plans, fields);
}

Result<std::vector<std::string>> operator_texts(std::string_view text, std::span<const Field> fields) {
  DL_ASSIGN_OR_RETURN(const std::vector<ClauseSyntax> clauses, parse_transforms(text));
  std::vector<std::string> texts(fields.size());
  for (const ClauseSyntax& clause : clauses) {
    DL_ASSIGN_OR_RETURN(const std::vector<size_t> indices, fields_of(clause, fields));
    std::string calls;
    for (const CallSyntax& call : clause.calls) calls += concat(calls.empty() ? "" : ", ", call.text);
    for (size_t index : indices) texts[index] = calls;
  }
  return texts;
}

}  // namespace dataline
