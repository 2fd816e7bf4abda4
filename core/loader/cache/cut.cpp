// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/cut.h"

#include <optional>
#include <utility>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr int64_t kMostPamChannels = 4;

class Cutter {
 public:
  Cutter(const std::vector<Field>& fields, TransformSettings settings, bool as_jpeg)
      : fields_(fields), all_settings_(std::move(settings)), settings_(all_settings_), as_jpeg_(as_jpeg) {
    settings_.operators.clear();  // the host's: who knows what they do next time
  }

  Result<TransformCut> cut(std::string_view text) {
    DL_ASSIGN_OR_RETURN(const OperatorTexts operators, operators_of(text, fields_, all_settings_));
    TransformCut out;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const std::vector<std::string>& calls = operators[f];
      DL_ASSIGN_OR_RETURN(Cut best, best_cut(f, calls));
      CutField& field = best.field;
      const size_t count = best.count;
      const std::vector<std::string> after = calls_after(field, calls, count);
      if (!after.empty())
        out.after += concat(out.after.empty() ? "" : "; ", clause(f, joined_calls(after, 0, after.size())));
      out.places.push_back(static_cast<int64_t>(calls.size()) - static_cast<int64_t>(after.size()));
      out.fields.push_back(std::move(field));
    }
    return out;
  }

 private:
  struct Cut {
    CutField field;
    size_t count = 0;  // operators before it
  };

  static std::string joined_calls(const std::vector<std::string>& calls, size_t begin, size_t end) {
    std::string out;
    for (size_t i = begin; i < end; ++i) out += concat(i == begin ? "" : ", ", calls[i]);
    return out;
  }
  // The only field needs no name, which may be none that the grammar has.
  std::string clause(size_t f, const std::string& calls) const {
    return fields_.size() == 1 ? calls : concat(fields_[f].name, ": ", calls);
  }

  static bool decodes(const std::vector<std::string>& calls) {
    return !calls.empty() && std::string_view(calls[0]).substr(0, calls[0].find('(')) == "decode";
  }

  // The first `count` operators of a field, if they give the same each time; no more than that is asked of them.
  std::optional<CutField> field_after(size_t f, const std::vector<std::string>& calls, size_t count) const {
    const std::string before = joined_calls(calls, 0, count);
    Result<CompiledTransforms> compiled =
        compile_transforms(count == 0 ? std::string() : clause(f, before), fields_, settings_);
    if (!compiled.is_ok() || !compiled.value().mixes.empty()) return std::nullopt;
    CutField field;
    field.program = std::move(compiled.value().programs[f]);
    field.before = before;
    field.kept = field.program->output();
    if (field.program->draws() || field.kept.to_bucket || field.kept.by_part) return std::nullopt;
    const std::vector<int64_t>& shape = field.kept.shape;
    const bool image =
        decodes(calls) && field.kept.dtype == DType::kU8 && field.kept.axes == "HWC" && shape.size() == 3;
    if (image && as_jpeg_ && (shape[2] == 1 || shape[2] == 3))
      field.as = KeptAs::kJpeg;
    else if (!field.kept.varies())
      return field;
    else if (image && shape[2] <= kMostPamChannels)
      field.as = KeptAs::kPam;
    else
      return std::nullopt;
    field.kept = Field();
    field.kept.name = fields_[f].name;
    field.kept.kind = FieldKind::kRagged;
    field.kept.shape = {-1};
    field.only_decodes = count == 1;
    return field;
  }

  // What is left to do. A file is decoded as its image was; that all are of one size, a crop to that size says.
  static std::vector<std::string> calls_after(const CutField& field, const std::vector<std::string>& calls,
                                              size_t count) {
    std::vector<std::string> after(calls.begin() + static_cast<std::ptrdiff_t>(count), calls.end());
    if (field.as == KeptAs::kValues) return after;
    const Field& pixels = field.program->output();
    if (!pixels.varies())
      after.insert(after.begin(), concat("center_crop([", pixels.shape[0], ", ", pixels.shape[1], "])"));
    after.insert(after.begin(), calls[0]);
    return after;
  }

  // Whether what is left can be done to what is kept.
  bool goes_on(size_t f, const CutField& field, const std::vector<std::string>& calls, size_t count) const {
    std::vector<std::string> after = calls_after(field, calls, count);
    std::vector<Field> kept = fields_;
    kept[f] = field.kept;
    // Without mixup and cutmix, which ask about other fields: they are last, and take whatever the rest gives.
    while (!after.empty()) {
      const std::string text = clause(f, joined_calls(after, 0, after.size()));
      if (compile_transforms(text, kept, all_settings_).is_ok()) return true;
      if (!after.back().starts_with("mixup") && !after.back().starts_with("cutmix")) return false;
      after.pop_back();
    }
    return true;
  }

  Result<Cut> best_cut(size_t f, const std::vector<std::string>& calls) const {
    std::optional<Cut> best;
    for (size_t count = decodes(calls) ? 1 : 0; count <= calls.size(); ++count) {
      std::optional<CutField> field = field_after(f, calls, count);
      if (!field || !goes_on(f, *field, calls, count)) continue;
      if (!best || is_better(*field, best->field)) best = Cut{std::move(*field), count};
    }
    if (best) return std::move(*best);
    std::optional<CutField> stored = field_after(f, calls, 0);
    if (!stored) {
      return error(Code::kUnsupported, "option cache: field '", fields_[f].name, "' (",
                   field_type_text(fields_[f]), ") cannot be stored");
    }
    return Cut{std::move(*stored), 0};
  }

  // A later cut than `other`.
  static bool is_better(const CutField& field, const CutField& other) {
    if ((field.as == KeptAs::kJpeg) != (other.as == KeptAs::kJpeg)) return field.as == KeptAs::kJpeg;
    const int64_t bytes = field.kept.bytes(), other_bytes = other.kept.bytes();
    if (bytes < 0) return other_bytes < 0;
    return other_bytes < 0 || bytes <= other_bytes;
  }

  const std::vector<Field>& fields_;
  const TransformSettings all_settings_;
  TransformSettings settings_;
  const bool as_jpeg_;
};

}  // namespace

Result<TransformCut> cut_transform(const std::vector<Field>& fields, std::string_view transform,
                                   TransformSettings settings, bool as_jpeg) {
  return Cutter(fields, std::move(settings), as_jpeg).cut(transform);
}

}  // namespace dataline
