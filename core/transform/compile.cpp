// SPDX-License-Identifier: Apache-2.0
#include "core/transform/transform.h"

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/transform/grammar/grammar.h"
#include "core/transform/operators/host_operator.h"
#include "core/transform/passes/pass.h"
#include "core/transform/plan/plan.h"

namespace dataline {
namespace {

constexpr std::string_view kDefaultField = "image";

std::vector<std::string_view> names_of(std::span<const Field> fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

Status no_such_field(int64_t column, std::span<const Field> fields, std::string_view got) {
  const std::vector<std::string_view> names = names_of(fields);
  return error(Code::kNoSuchField, "transform: column ", column, ": expected a field (", joined(names),
               "), got ", quote(got), did_you_mean(got, names))
      .with_column(column);
}

std::optional<size_t> find_field(std::span<const Field> fields, std::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return std::nullopt;
}

// Indices of the fields that a clause applies to.
Result<std::vector<size_t>> fields_of(const ClauseSyntax& clause, std::span<const Field> fields,
                                      size_t added_fields) {
  std::vector<size_t> out;
  for (const FieldSyntax& named : clause.fields) {
    std::optional<size_t> index = find_field(fields, named.name);
    if (!index) return no_such_field(named.column, fields, named.name);
    out.push_back(*index);
  }
  if (!out.empty()) return out;
  if (fields.size() == 1 + added_fields) return std::vector<size_t>{0};
  if (std::optional<size_t> index = find_field(fields, kDefaultField)) return std::vector<size_t>{*index};
  return error(Code::kNoSuchField, "transform: column ", clause.column, ": expected a field name (",
               joined(names_of(fields)), ") before these operators, got none")
      .with_column(clause.column);
}

Status add_calls(const ClauseSyntax& clause, const TransformSettings& settings, Plan& plan) {
  for (const CallSyntax& call : clause.calls) {
    DL_ASSIGN_OR_RETURN(const Operator* const found, find_operator(call, settings));
    if (plan.mix())
      return transform_error(call.column,
                             "expected nothing after mixup or cutmix, which work on finished batches, ",
                             "got ", quote(call.name), "; put it before");
    if (plan.pads_to_bucket())
      return transform_error(call.column, "expected nothing after pad_to(bucket), got ", quote(call.name),
                             "; put it before");
    DL_ASSIGN_OR_RETURN(const Arguments arguments, Arguments::bind(call, found->info));
    DL_RETURN_IF_ERROR(found->host != nullptr ? add_host_operator(*found->host, arguments, plan)
                                              : found->add(arguments, plan));
    plan.next_operator(call.text);
  }
  return Status::ok();
}

Status want_labels(const MixRequest& request, const Field& labels) {
  const bool soft =
      labels.kind == FieldKind::kDense && dtype_is_float(labels.dtype) && labels.shape.size() == 1;
  if (soft) return Status::ok();
  return transform_error(request.labels_column, request.mix.kind == MixKind::kMixup ? "mixup" : "cutmix",
                         ": labels: expected one float per class, got ", quote(labels.name), " of ",
                         field_type_text(labels), "; add one_hot(n): '", labels.name, ": one_hot(n)'");
}

// The plans' requests for finished batches.
Result<std::vector<BatchMix>> mixes_of(std::span<const Plan> plans, std::span<const Field> fields) {
  std::vector<BatchMix> mixes;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].mix()) continue;
    const MixRequest& request = *plans[i].mix();
    const std::optional<size_t> labels = find_field(fields, request.labels);
    if (!labels) return no_such_field(request.labels_column, fields, request.labels);
    if (plans[*labels].mix())
      return transform_error(request.labels_column, "expected labels in a separate field, got ",
                             quote(request.labels), ", which is mixed as an image");
    DL_RETURN_IF_ERROR(want_labels(request, plans[*labels].field()));
    for (const BatchMix& other : mixes) {
      if (other.labels == *labels)
        return transform_error(request.column, "expected labels to be mixed once, got ",
                               quote(request.labels), " twice");
    }
    mixes.push_back(request.mix);
    mixes.back().image = i;
    mixes.back().labels = *labels;
  }
  return mixes;
}

// Adds the operators of a text to the plans, one per field.
Status add_text(std::string_view text, std::span<const Field> fields, const TransformSettings& settings,
                std::vector<Plan>& plans) {
  DL_ASSIGN_OR_RETURN(const std::vector<ClauseSyntax> clauses, parse_transforms(text));
  std::vector<bool> given(fields.size());
  for (const ClauseSyntax& clause : clauses) {
    DL_ASSIGN_OR_RETURN(const std::vector<size_t> indices, fields_of(clause, fields, settings.added_fields));
    for (size_t i = 0; i < indices.size(); ++i) {
      const size_t index = indices[i];
      const int64_t column = clause.fields.empty() ? clause.column : clause.fields[i].column;
      if (given[index])
        return transform_error(column, "expected each field once, got ", quote(fields[index].name), " twice");
      given[index] = true;
      Status status = add_calls(clause, settings, plans[index]);
      if (status.is_ok()) continue;
      if (indices.size() == 1) return status;
      return std::move(status).in(concat("field ", quote(fields[index].name)));
    }
  }
  return Status::ok();
}

}  // namespace

Result<CompiledTransforms> compile_transforms(std::string_view text, std::span<const Field> fields,
                                              const TransformSettings& settings, SimdTarget target) {
  return compile_transforms("", text, fields, settings, target);
}

Result<CompiledTransforms> compile_transforms(std::string_view first, std::string_view text,
                                              std::span<const Field> fields,
                                              const TransformSettings& settings, SimdTarget target) {
  std::vector<Plan> plans;
  for (size_t i = 0; i < fields.size(); ++i) plans.emplace_back(fields[i], i, settings, target);
  DL_RETURN_IF_ERROR(add_text(first, fields, settings, plans));
  DL_RETURN_IF_ERROR(add_text(text, fields, settings, plans));
  CompiledTransforms out;
  DL_ASSIGN_OR_RETURN(out.mixes, mixes_of(plans, fields));
  for (Plan& plan : plans) {
    plan.finish();
    out.programs.push_back(plan.program());
    out.splits.push_back(plan.split());
    out.texts.push_back(plan.text());
    out.upright.push_back(plan.upright());
  }
  for (const BatchMix& mix : out.mixes) {
    out.splits[mix.image].reset();
    out.splits[mix.labels].reset();
  }
  return out;
}

Result<OperatorTexts> operators_of(std::string_view text, std::span<const Field> fields,
                                   const TransformSettings& settings) {
  OperatorTexts texts(fields.size());
  DL_ASSIGN_OR_RETURN(const std::vector<ClauseSyntax> clauses, parse_transforms(text));
  for (const ClauseSyntax& clause : clauses) {
    DL_ASSIGN_OR_RETURN(const std::vector<size_t> indices, fields_of(clause, fields, settings.added_fields));
    for (const size_t index : indices) {
      for (const CallSyntax& call : clause.calls) texts[index].emplace_back(call.text);
    }
  }
  return texts;
}

std::unique_ptr<const Program> make_copy_program(const Field& field) {
  return make_copy_program(field, {.field = field, .scales = {}}, best_simd_target());
}

}  // namespace dataline
