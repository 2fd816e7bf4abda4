// Over 300 lines: the planner of a file's columns, one class.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/columns.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.h"
#include "core/base/name_text.h"
#include "core/base/text.h"
#include "core/source/arrow/tensor_shape.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr size_t kMaxArrowColumns = 4096;
constexpr size_t kMaxColumnNameBytes = 255;

bool is_view(ArrowType type) { return type == ArrowType::kBinaryView || type == ArrowType::kUtf8View; }

int32_t buffers_of(const ArrowField& field, bool old_unions) {
  switch (field.type) {
    case ArrowType::kNull:
    case ArrowType::kRunEndEncoded:
      return 0;
    case ArrowType::kStruct:
    case ArrowType::kFixedSizeList:
      return 1;
    case ArrowType::kBinary:
    case ArrowType::kUtf8:
    case ArrowType::kLargeBinary:
    case ArrowType::kLargeUtf8:
    case ArrowType::kListView:
    case ArrowType::kLargeListView:
      return 3;
    case ArrowType::kUnion:
      return field.unit + 1 + (old_unions ? 1 : 0);
    default:
      return 2;
  }
}

// Appends the nodes of a tree in preorder. Dictionary-encoded fields are their indices, but for `decoded` itself.
void flatten(const ArrowField& field, int32_t parent, int64_t per_parent, bool old_unions, bool decoded,
             std::vector<ArrowNode>& nodes) {
  const auto self = static_cast<int32_t>(nodes.size());
  const bool encoded = field.dictionary && !decoded;
  const bool views = is_view(field.type);
  nodes.push_back(
      {parent, per_parent, encoded ? 2 : buffers_of(field, old_unions), views && !encoded, false});
  if (encoded) return;
  const int64_t per_child = field.type == ArrowType::kStruct          ? 1
                            : field.type == ArrowType::kFixedSizeList ? field.size
                                                                      : -1;
  for (const ArrowField& child : field.children) flatten(child, self, per_child, old_unions, false, nodes);
}

// The dtype of a type whose values are delivered as they are stored; nothing for other types.
std::optional<DType> dtype_of(const ArrowField& field) {
  constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
  constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  const size_t width = field.bits <= 8 ? 0 : field.bits == 16 ? 1 : field.bits == 32 ? 2 : 3;
  switch (field.type) {
    case ArrowType::kInt:
      return field.is_signed ? kSigned[width] : kUnsigned[width];
    case ArrowType::kFloat:
      return width == 1 ? DType::kF16 : width == 2 ? DType::kF32 : DType::kF64;
    case ArrowType::kDate:
    case ArrowType::kTime:
    case ArrowType::kTimestamp:
    case ArrowType::kDuration:
      return kSigned[width];
    case ArrowType::kBool:
      return DType::kBool;
    case ArrowType::kFixedSizeBinary:
      return DType::kU8;
    default:
      return std::nullopt;
  }
}

bool is_time(ArrowType type) {
  return type == ArrowType::kDate || type == ArrowType::kTime || type == ArrowType::kTimestamp ||
         type == ArrowType::kDuration;
}

bool is_text(ArrowType type) {
  return type == ArrowType::kBinary || type == ArrowType::kUtf8 || type == ArrowType::kLargeBinary ||
         type == ArrowType::kLargeUtf8;
}

bool is_list(ArrowType type) { return type == ArrowType::kList || type == ArrowType::kLargeList; }

// Fixed-size lists around a value of fixed size.
bool is_dense(const ArrowField& field) {
  const ArrowField* inner = &field;
  while (inner->type == ArrowType::kFixedSizeList) {
    inner = &inner->children[0];
    if (inner->dictionary) return false;
  }
  return dtype_of(*inner).has_value();
}

bool is_read(const ArrowField& field) {
  if (is_text(field.type) || is_view(field.type) || is_dense(field)) return true;
  return is_list(field.type) && !field.children[0].dictionary && is_dense(field.children[0]);
}

// A leaf of the schema: a column, or a field of structs.
struct Leaf {
  std::string name;
  const ArrowField* field = nullptr;
  int32_t node = 0;
  std::vector<int32_t> structs;  // the nodes around it
};

class ArrowPlanner {
 public:
  ArrowPlanner(const std::string& path, bool old_unions) : path_(path), old_unions_(old_unions) {}

  Result<ArrowPlan> plan(const std::vector<ArrowField>& fields, const std::vector<std::string>& wanted) {
    for (const ArrowField& field : fields) {
      const auto node = static_cast<int32_t>(plan_.batch.nodes.size());
      flatten(field, -1, -1, old_unions_, false, plan_.batch.nodes);
      find_leaves(field, field.name, node, {});
    }
    bitmaps_.assign(plan_.batch.nodes.size(), -1);
    DL_ASSIGN_OR_RETURN(const std::vector<const Leaf*> chosen, choose(wanted));
    if (chosen.empty()) return error(Code::kUnsupported, path_, ": a table without columns");
    if (chosen.size() > kMaxArrowColumns) {
      return error(Code::kTooLarge, path_, ": ", chosen.size(), " fields, at most ", kMaxArrowColumns,
                   "; choose some with fields=");
    }
    for (const Leaf* leaf : chosen) DL_RETURN_IF_ERROR(add(*leaf));
    return std::move(plan_);
  }

 private:
  void find_leaves(const ArrowField& field, const std::string& whole, int32_t node,
                   std::vector<int32_t> structs) {
    // One that is too long is refused where it is chosen; until then it costs no more.
    const std::string name(whole, 0, kMaxColumnNameBytes + 1);
    if (field.type != ArrowType::kStruct || field.dictionary) {
      leaves_.push_back({name, &field, node, std::move(structs)});
      return;
    }
    structs.push_back(node);
    int32_t child = node + 1;
    for (const ArrowField& inner : field.children) {
      find_leaves(inner, concat(name, "/", inner.name), child, structs);
      child = after(child);
    }
  }

  // The node that follows this one's subtree.
  int32_t after(int32_t node) const {
    const std::vector<ArrowNode>& nodes = plan_.batch.nodes;
    auto next = static_cast<size_t>(node) + 1;
    while (next < nodes.size() && nodes[next].parent >= node) ++next;
    return static_cast<int32_t>(next);
  }

  Result<std::vector<const Leaf*>> choose(const std::vector<std::string>& wanted) const {
    std::vector<const Leaf*> out;
    if (wanted.empty()) {
      for (const Leaf& leaf : leaves_) out.push_back(&leaf);
      DL_RETURN_IF_ERROR(check_readable(out));
    }
    for (const std::string& name : wanted) {
      const size_t before = out.size();
      for (const Leaf& leaf : leaves_) {
        if (leaf.name == name || leaf.name.starts_with(name + "/")) out.push_back(&leaf);
      }
      if (out.size() == before) return no_such_field(concat(path_, ": "), "column", name, leaf_names());
    }
    if (!wanted.empty()) DL_RETURN_IF_ERROR(check_readable(out));
    DL_RETURN_IF_ERROR(check_names(out, !wanted.empty()));
    return out;
  }

  std::vector<std::string_view> leaf_names() const {
    std::vector<std::string_view> names;
    for (const Leaf& leaf : leaves_) names.push_back(leaf.name);
    return names;
  }

  Status check_readable(const std::vector<const Leaf*>& chosen) const {
    for (const Leaf* leaf : chosen) {
      if (is_read(*leaf->field)) continue;
      std::vector<std::string_view> others;
      for (const Leaf& other : leaves_)
        if (is_read(*other.field)) others.push_back(other.name);
      return error(Code::kUnsupported, path_, ": column ", printable(leaf->name), " is ",
                   arrow_type_text(*leaf->field), ", which is not supported",
                   others.empty() ? "" : concat("; fields=", some_names(others, ","), " leaves it out"));
    }
    return Status::ok();
  }

  // Names are fields' names: text, each once.
  Status check_names(const std::vector<const Leaf*>& chosen, bool wanted) const {
    std::vector<std::string_view> names;
    for (const Leaf* leaf : chosen) {
      const std::string& name = leaf->name;
      if (!is_name_text(name) || name.empty() || name.size() > kMaxColumnNameBytes) {
        return error(Code::kUnsupported, path_, ": a column is called ", printable(name),
                     ", which cannot name a field (1 to ", kMaxColumnNameBytes, " bytes of ", kNameText, ")");
      }
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return Status::ok();
    const auto same =
        std::count_if(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) { return leaf.name == *twice; });
    if (wanted && same == 1)
      return error(Code::kBadUri, path_, ": fields=: ", printable(*twice), " is named twice");
    return error(Code::kUnsupported, path_, ": ", same, " columns are called ", printable(*twice),
                 "; leave them out with fields=, or rename them with Arrow's rename_columns()");
  }

  Status add(const Leaf& leaf) {
    ArrowColumn column;
    column.field.name = leaf.name;
    column_ = static_cast<int32_t>(plan_.columns.size());
    for (const int32_t node : leaf.structs) column.row_nulls.push_back(bitmap(plan_.batch, node));
    column.row_nulls.push_back(bitmap(plan_.batch, leaf.node));
    const ArrowField& field = *leaf.field;
    if (!field.dictionary) {
      DL_RETURN_IF_ERROR(add_values(field, plan_.batch, leaf.node, column));
    } else {
      add_indices(field, leaf.node, column);
      ArrowDictionaryPlan dictionary{field.dictionary->id, column_, {}};
      flatten(field, -1, -1, old_unions_, true, dictionary.layout.nodes);
      column.value_nulls = take(dictionary.layout, ArrowTake::Kind::kValidity, 0, 0, 1);
      DL_RETURN_IF_ERROR(add_values(field, dictionary.layout, 0, column));
      DL_ASSIGN_OR_RETURN(column.dictionary, share(std::move(dictionary)));
    }
    describe(leaf);
    plan_.columns.push_back(std::move(column));
    return Status::ok();
  }

  // Columns may have one dictionary in common, whose values are then laid out alike.
  Result<int32_t> share(ArrowDictionaryPlan dictionary) {
    auto& all = plan_.dictionaries;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.id == dictionary.id; });
    const auto index = static_cast<int32_t>(same - all.begin());
    if (same == all.end()) {
      all.push_back(std::move(dictionary));
      return index;
    }
    if (same->layout.nodes.size() == dictionary.layout.nodes.size() &&
        same->layout.takes == dictionary.layout.takes)
      return index;
    return error(Code::kCorrupt, path_, ": dictionary ", dictionary.id, " has values of two types");
  }

  void describe(const Leaf& leaf) {
    const ArrowField& field = *leaf.field;
    const ArrowField* inner = &field;
    while (inner->type == ArrowType::kFixedSizeList || is_list(inner->type)) inner = &inner->children[0];
    if (field.dictionary)
      plan_.notes.push_back(concat(leaf.name, ": ", arrow_type_text(field), ", delivered as its values"));
    if (is_time(inner->type))
      plan_.notes.push_back(concat(leaf.name, ": ", arrow_type_text(*inner), ", delivered as its integers"));
    if (!field.extension.empty() && field.extension != kTensorExtension) {
      plan_.notes.push_back(concat(leaf.name, ": extension type ", printable(field.extension),
                                   " ignored, delivered as stored (", arrow_type_text(field), ")"));
    }
  }

  int32_t take(ArrowLayout& layout, ArrowTake::Kind kind, int32_t node, int32_t buffer, int64_t item_bits) {
    const int32_t slot = layout.slots;
    layout.slots += kind == ArrowTake::Kind::kBytes || kind == ArrowTake::Kind::kViewBuffers ? 2 : 1;
    layout.takes.push_back({kind, node, buffer, slot, item_bits, column_});
    for (int32_t n = node; n >= 0; n = layout.nodes[static_cast<size_t>(n)].parent)
      layout.nodes[static_cast<size_t>(n)].used = true;
    return slot;
  }

  // Columns of a struct share its bitmap.
  int32_t bitmap(ArrowLayout& layout, int32_t node) {
    int32_t& slot = bitmaps_[static_cast<size_t>(node)];
    if (slot < 0) slot = take(layout, ArrowTake::Kind::kValidity, node, 0, 1);
    return slot;
  }

  void add_indices(const ArrowField& field, int32_t node, ArrowColumn& column) {
    column.index_bytes = field.dictionary->index_bytes;
    column.index_signed = field.dictionary->index_signed;
    column.indices = take(plan_.batch, ArrowTake::Kind::kData, node, 1, column.index_bytes * 8);
    column.first = plan_.batch.slots;
    plan_.batch.slots += 2;
  }

  Status add_values(const ArrowField& field, ArrowLayout& layout, int32_t node, ArrowColumn& column) {
    ArrowValues& values = column.values;
    if (is_view(field.type)) {
      column.field.kind = FieldKind::kRagged;
      column.field.shape = {-1};
      values.unit_bytes = 1;
      values.views = take(layout, ArrowTake::Kind::kData, node, 1, kArrowViewBytes * 8);
      values.data = take(layout, ArrowTake::Kind::kViewBuffers, node, 2, 0);
      values.limit = values.data + 1;
      return Status::ok();
    }
    if (!is_text(field.type) && !is_list(field.type)) {
      DL_RETURN_IF_ERROR(add_dense(field, layout, node, {}, column));
      if (field.extension == kTensorExtension) return shape_tensor(field, column);
      return Status::ok();
    }
    const bool large = field.type == ArrowType::kLargeBinary || field.type == ArrowType::kLargeUtf8 ||
                       field.type == ArrowType::kLargeList;
    column.field.kind = FieldKind::kRagged;
    values.offset_bytes = large ? 8 : 4;
    values.offsets = take(layout, ArrowTake::Kind::kOffsets, node, 1, values.offset_bytes * 8);
    if (is_text(field.type)) {
      column.field.shape = {-1};
      values.unit_bytes = 1;
      values.data = take(layout, ArrowTake::Kind::kBytes, node, 2, 8);
      values.limit = values.data + 1;
      return Status::ok();
    }
    const int32_t child = node + 1;
    values.limit = take(layout, ArrowTake::Kind::kItems, child, 0, 0);
    values.item_nulls.push_back({take(layout, ArrowTake::Kind::kValidity, child, 0, 1), 1, 0});
    return add_dense(field.children[0], layout, child, {-1}, column);
  }

  // A value of fixed size, inside fixed-size lists; `shape` is what there is of the field's already.
  Status add_dense(const ArrowField& field, ArrowLayout& layout, int32_t node, std::vector<int64_t> shape,
                   ArrowColumn& column) {
    ArrowValues& values = column.values;
    const ArrowField* inner = &field;
    std::optional<int64_t> count = 1;
    for (; inner->type == ArrowType::kFixedSizeList; inner = &inner->children[0]) {
      shape.push_back(inner->size);
      count = count ? checked_multiply(*count, inner->size) : count;
      values.item_nulls.push_back(
          {take(layout, ArrowTake::Kind::kValidity, ++node, 0, 1), count.value_or(0), 0});
    }
    if (inner->type == ArrowType::kFixedSizeBinary) {
      shape.push_back(inner->size);
      count = count ? checked_multiply(*count, inner->size) : count;
    }
    const DType dtype = *dtype_of(*inner);
    const std::optional<int64_t> bytes = count ? checked_multiply(*count, dtype_bytes(dtype)) : count;
    if (!bytes || *bytes > kMaxRecordBytes || static_cast<int64_t>(shape.size()) > kMaxRank) {
      return error(Code::kTooLarge, path_, ": column ", printable(column.field.name), " is ",
                   arrow_type_text(field), ", values of more than ", kMaxRecordBytes, " bytes or ", kMaxRank,
                   " dims");
    }
    if (*bytes == 0) {
      return error(Code::kUnsupported, path_, ": column ", printable(column.field.name), " is ",
                   arrow_type_text(field), ": its values hold no bytes; leave it out with fields=");
    }
    values.bits = dtype == DType::kBool;
    values.unit_bytes = *bytes;
    values.unit_values = *count;
    // For fixed_size_binary the bytes of a value, else those of an element.
    const int64_t stored_bits = inner->type == ArrowType::kFixedSizeBinary ? inner->size * 8 : inner->bits;
    values.data = take(layout, ArrowTake::Kind::kData, node, 1, stored_bits);
    for (ArrowItemNulls& nulls : values.item_nulls) nulls.item_bytes = *bytes / nulls.per_unit;
    column.field.dtype = dtype;
    column.field.shape = std::move(shape);
    return Status::ok();
  }

  Status shape_tensor(const ArrowField& field, ArrowColumn& column) {
    DL_ASSIGN_OR_RETURN(const TensorShape tensor, read_tensor_shape(path_, field));
    column.field.shape = tensor.shape;
    column.field.axes = tensor.axes;
    if (tensor.permuted) {
      plan_.notes.push_back(
          concat(column.field.name, ": the tensor's permutation is ignored: the dims are in stored order"));
    }
    return Status::ok();
  }

  const std::string& path_;
  const bool old_unions_;
  ArrowPlan plan_;
  std::vector<Leaf> leaves_;
  std::vector<int32_t> bitmaps_;  // by node: the slot, -1: none yet
  int32_t column_ = 0;            // that is being added
};

}  // namespace

Result<ArrowPlan> plan_arrow_columns(const std::string& path, const std::vector<ArrowField>& fields,
                                     const std::vector<std::string>& wanted, bool old_unions) {
  return ArrowPlanner(path, old_unions).plan(fields, wanted);
}

}  // namespace dataline
