// Any bytes as the text of transforms: refused with a column within it, or printed and parsed again it is the same tree;
// what it means for a few usual sets is then compiled, and refused with a column or its field.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/grammar/grammar.h"
#include "core/transform/transform.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

void check_column(const Status& status, std::string_view text) {
  check(!status.message().empty(), "a refusal says why");
  check(status.column() >= 0 && status.column() <= static_cast<int64_t>(text.size()) + 1,
        "the column is of the text", status.message());
  check(status.column() > 0 || status.code() != Code::kBadTransform, "a bad transform has a column",
        status.message());
}

std::string printed(const Value& value) {
  if (value.kind == ValueKind::kText) return concat('"', value.text, '"');
  if (value.kind != ValueKind::kList) return std::string(value.text);
  std::string out = "[";
  for (const Value& item : value.items)
    out += concat(&item == &value.items.front() ? "" : ",", printed(item));
  return out + "]";
}

std::string printed(const std::vector<ClauseSyntax>& clauses) {
  std::string out;
  for (const ClauseSyntax& clause : clauses) {
    if (!out.empty()) out += ";";
    for (const FieldSyntax& field : clause.fields)
      out += concat(&field == &clause.fields.front() ? "" : ",", '"', field.name, '"');
    if (!clause.fields.empty()) out += ":";
    for (const CallSyntax& call : clause.calls) {
      out += concat(&call == &clause.calls.front() ? "" : ",", call.name, "(");
      for (const ArgumentSyntax& argument : call.arguments) {
        if (&argument != &call.arguments.front()) out += ",";
        if (!argument.name.empty()) out += concat(argument.name, "=");
        out += printed(argument.value);
      }
      out += ")";
    }
  }
  return out;
}

bool same(const Value& a, const Value& b) {
  const bool number =
      a.kind != ValueKind::kNumber || a.number == b.number || (a.number != a.number && b.number != b.number);
  const bool text = a.kind == ValueKind::kList || a.text == b.text;
  return a.kind == b.kind && number && text && a.shape == b.shape &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
}
bool same(const CallSyntax& a, const CallSyntax& b) {
  return a.name == b.name &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    [](const ArgumentSyntax& x, const ArgumentSyntax& y) {
                      return x.name == y.name && same(x.value, y.value);
                    });
}
bool same(const ClauseSyntax& a, const ClauseSyntax& b) {
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const FieldSyntax& x, const FieldSyntax& y) { return x.name == y.name; }) &&
         std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
                    [](const CallSyntax& x, const CallSyntax& y) { return same(x, y); });
}

const std::vector<std::vector<Field>>& usual_sets() {
  static const std::vector<std::vector<Field>> sets = {
      {{"image", FieldKind::kDense, DType::kU8, {8, 8, 3}, "HWC", -1},
       {"label", FieldKind::kDense, DType::kI64, {}, "", -1}},
      {{"image", FieldKind::kRagged, DType::kU8, {-1}, "", 4096},
       {"label", FieldKind::kDense, DType::kI64, {}, "", -1}},
      {{"x", FieldKind::kDense, DType::kU16, {16}, "T", -1},
       {"y", FieldKind::kDense, DType::kU16, {16}, "T", -1}},
      {{"data", FieldKind::kDense, DType::kF32, {4, 5}, "", -1}}};
  return sets;
}

void run(std::string_view text) {
  Result<std::vector<ClauseSyntax>> parsed = parse_transforms(text);
  if (!parsed.is_ok()) return check_column(parsed.status(), text);
  const std::string print = printed(parsed.value());
  Result<std::vector<ClauseSyntax>> again = parse_transforms(print);
  // Printed it may be longer than a text is allowed to be.
  if (!again.is_ok()) {
    check(print.size() > (64 << 10), "a printed tree is parsed", print);
  } else {
    check(std::equal(parsed.value().begin(), parsed.value().end(), again.value().begin(), again.value().end(),
                     [](const ClauseSyntax& a, const ClauseSyntax& b) { return same(a, b); }),
          "printed and parsed again it is the same tree", print);
  }
  for (const auto& fields : usual_sets()) {
    Result<CompiledTransforms> compiled = compile_transforms(text, fields);
    if (!compiled.is_ok()) {
      check_column(compiled.status(), text);
      continue;
    }
    check(compiled.value().programs.size() == fields.size(), "one program a field");
    for (const auto& program : compiled.value().programs) {
      const Field& output = program->output();
      check(output.varies() || output.kind == FieldKind::kRagged || output.bytes() >= 0,
            "a size that is one");
      check(program->scratch_bytes() >= 0 && program->state_bytes() >= 0, "memory that is countable");
    }
    check(compiled.value().texts.size() == fields.size(), "one text a field", text);
  }
}

const Target kTarget("transforms", run);

}  // namespace
}  // namespace dataline::fuzz
