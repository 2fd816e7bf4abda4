// Which columns of a file become fields.
// SPDX-License-Identifier: Apache-2.0
#include <arrow/extension/fixed_shape_tensor.h>

#include <algorithm>
#include <set>
#include <utility>

#include "columns.h"
#include "types.h"

namespace dataline_parquet {
namespace {

using arrow::Type;

constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxNamesShown = 16;
constexpr int64_t kMaxRecordBytes = int64_t{1} << 40;

std::string some_names(const std::vector<std::string>& names, const char* between) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxNamesShown; ++i) out += (i == 0 ? "" : between) + names[i];
  return names.size() > kMaxNamesShown ? out + between + "..." : out;
}

struct Leaf {
  std::string name;
  TypeRef type;
  std::vector<int> path;
  std::vector<int> parquet;  // its columns in the file: one, but for what is not read
};

class Planner {
 public:
  Planner(const std::string& path, const FileOptions& options, Plan& plan)
      : path_(path), options_(options), plan_(plan) {}

  Failure plan(const std::vector<parquet::arrow::SchemaField>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = fields[i].field->name();
      const auto& apart = options_.left_out;
      if (std::find(apart.begin(), apart.end(), name) == apart.end())
        find_leaves(fields[i], name, {static_cast<int>(i)});
    }
    std::vector<const Leaf*> chosen;
    if (Failure failed = choose(chosen)) return failed;
    for (const Leaf* leaf : chosen)
      if (Failure failed = add(*leaf)) return failed;
    number_paths();
    for (size_t i = 0; i < chosen.size(); ++i) add_to_top(*chosen[i], i, fields);
    return options_.fill && options_.fill->mask ? add_masks() : Failure();
  }

 private:
  void find_leaves(const parquet::arrow::SchemaField& field, const std::string& name,
                   const std::vector<int>& path) {
    if (field.field->type()->id() != Type::STRUCT) {
      Leaf leaf{name, field.field->type(), path, {}};
      collect(field, leaf.parquet);
      leaves_.push_back(std::move(leaf));
      return;
    }
    for (size_t i = 0; i < field.children.size(); ++i) {
      std::vector<int> below = path;
      below.push_back(static_cast<int>(i));
      find_leaves(field.children[i], name + "/" + field.children[i].field->name(), below);
    }
  }

  static void collect(const parquet::arrow::SchemaField& field, std::vector<int>& out) {
    if (field.is_leaf()) out.push_back(field.column_index);
    for (const auto& child : field.children) collect(child, out);
  }

  Failure choose(std::vector<const Leaf*>& out) const {
    if (options_.no_columns) return {};
    if (options_.fields.empty())
      for (const Leaf& leaf : leaves_) out.push_back(&leaf);
    for (const std::string& name : options_.fields) {
      const size_t before = out.size();
      for (const Leaf& leaf : leaves_)
        if (leaf.name == name || leaf.name.rfind(name + "/", 0) == 0) out.push_back(&leaf);
      if (out.size() == before) {
        std::vector<std::string> names;
        for (const Leaf& leaf : leaves_) names.push_back(printable(leaf.name));
        return failure(DL_ERR_NO_SUCH_FIELD, path_, ": no column ", printable(name), "; it has ",
                       names.empty() ? "none" : some_names(names, ", "));
      }
    }
    if (out.empty() && options_.left_out.empty())
      return failure(DL_ERR_UNSUPPORTED, path_, ": a table without columns");
    if (Failure failed = check_readable(out)) return failed;
    return check_names(out);
  }

  Failure check_readable(const std::vector<const Leaf*>& chosen) const {
    for (const Leaf* leaf : chosen) {
      if (is_read(leaf->type)) continue;
      std::vector<std::string> others;
      for (const Leaf& other : leaves_)
        if (is_read(other.type)) others.push_back(other.name);
      return failure(DL_ERR_UNSUPPORTED, path_, ": column ", printable(leaf->name), " is ",
                     leaf->type->ToString(), ", which is not supported",
                     others.empty() ? "" : "; fields=" + some_names(others, ",") + " leaves it out");
    }
    return {};
  }

  Failure check_names(const std::vector<const Leaf*>& chosen) const {
    std::set<std::string> seen;
    for (const Leaf* leaf : chosen) {
      const std::string& name = leaf->name;
      if (!is_name_text(name) || name.empty() || name.size() > kMaxNameBytes) {
        return failure(DL_ERR_UNSUPPORTED, path_, ": a column is called ", printable(name),
                       ", which cannot name a field (1 to ", kMaxNameBytes,
                       " bytes of UTF-8 without control and direction characters)");
      }
      if (seen.insert(name).second) continue;
      const auto same = std::count_if(leaves_.begin(), leaves_.end(),
                                      [&](const Leaf& other) { return other.name == name; });
      if (same == 1) return failure(DL_ERR_BAD_URI, path_, ": fields=: ", printable(name), " is named twice");
      return failure(DL_ERR_UNSUPPORTED, path_, ": ", same, " columns are called ", printable(name),
                     "; leave them out with fields=, or rename them with Arrow's rename_columns()");
    }
    return {};
  }

  Failure add(const Leaf& leaf) {
    PlannedColumn column;
    column.type = leaf.type;
    column.path = leaf.path;
    column.leaves = leaf.parquet;
    column.field.name = leaf.name;
    TypeRef type = stored(leaf.type);
    if (type->id() == Type::DICTIONARY)
      type = stored(static_cast<const arrow::DictionaryType&>(*type).value_type());
    column.field.ragged = is_text(type->id()) || is_a_list(type->id());
    if (column.field.ragged) column.field.shape.push_back(-1);
    if (!is_text(type->id())) {
      const TypeRef value = is_a_list(type->id()) ? type->field(0)->type() : type;
      if (Failure failed = add_dense(value, column.field)) return failed;
      if (Failure failed = shape_tensor(leaf.type, column.field)) return failed;
    }
    if (options_.fill && !column.field.ragged &&
        !store_fill(*options_.fill, column.field.dtype, column.fill)) {
      return failure(DL_ERR_BAD_URI, "nulls: field '", column.field.name, "' is ", column.field.type_text(),
                     ", which cannot hold ", number_text());
    }
    column.fills = options_.fill.has_value();
    // Where the items of a ragged field cannot be V, a null among them stays an error.
    if (options_.fill && column.field.ragged) store_fill(*options_.fill, column.field.dtype, column.fill);
    column.fills_items = !column.fill.empty() && !options_.fill->mask;
    plan_.columns.push_back(std::move(column));
    return {};
  }

  std::string number_text() const {
    return options_.fill->whole ? std::to_string(*options_.fill->whole)
                                : std::to_string(options_.fill->number);
  }

  Failure add_dense(const TypeRef& given, PqField& field) const {
    TypeRef type = stored(given);
    int64_t count = 1;
    bool large = false;
    const auto add_dim = [&](int64_t size) {
      field.shape.push_back(size);
      large = large || size < 0 || (size > 0 && count > kMaxRecordBytes / size);
      count = large ? 0 : count * size;
    };
    for (; type->id() == Type::FIXED_SIZE_LIST; type = stored(type->field(0)->type()))
      add_dim(static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    const Element element = element_of(*type);
    if (type->id() == Type::FIXED_SIZE_BINARY)
      add_dim(static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width());
    if (large || field.shape.size() > static_cast<size_t>(DL_MAX_RANK)) {
      return failure(DL_ERR_TOO_LARGE, path_, ": column ", printable(field.name), " is ", given->ToString(),
                     ": at most ", DL_MAX_RANK, " dims and ", kMaxRecordBytes, " bytes");
    }
    if (count == 0) {
      return failure(DL_ERR_UNSUPPORTED, path_, ": column ", printable(field.name), " is ", given->ToString(),
                     ": its values hold no bytes; leave it out with fields=");
    }
    field.dtype = element.dtype;
    field.element_bytes = element.bytes;
    field.unit_bytes = count * element.bytes;
    return {};
  }

  // arrow.fixed_shape_tensor: the shape that it declares, in the order of storage.
  Failure shape_tensor(const TypeRef& type, PqField& field) const {
    if (type->id() != Type::EXTENSION) return {};
    const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(type.get());
    if (tensor == nullptr || field.ragged) return {};
    const std::vector<int64_t>& shape = tensor->shape();
    if (shape.size() > static_cast<size_t>(DL_MAX_RANK)) {
      return failure(DL_ERR_TOO_LARGE, path_, ": column ", printable(field.name), " has ", shape.size(),
                     " dims, at most ", DL_MAX_RANK);
    }
    int64_t count = field.element_bytes;
    for (const int64_t dim : shape) count = dim > 0 && count <= kMaxRecordBytes / dim ? count * dim : 0;
    if (count != field.unit_bytes) {
      return failure(DL_ERR_CORRUPT, path_, ": column ", printable(field.name),
                     ": the tensor's shape has a different number of values than ", type->ToString());
    }
    field.shape = shape;
    for (const std::string& name : tensor->dim_names())
      if (name.size() == 1) field.axes += name;
    if (field.axes.size() != shape.size()) field.axes.clear();
    return {};
  }

  // What is read has the chosen children alone, in the file's order.
  void number_paths() {
    for (PlannedColumn& column : plan_.columns) {
      for (size_t depth = 0; depth < column.path.size(); ++depth) {
        std::set<int> siblings;
        for (const PlannedColumn& other : plan_.columns) {
          const bool same = other.path.size() > depth &&
                            std::equal(column.path.begin(), column.path.begin() + static_cast<long>(depth),
                                       other.path.begin());
          if (same) siblings.insert(other.path[depth]);
        }
        column.below.push_back(
            static_cast<int>(std::distance(siblings.begin(), siblings.find(column.path[depth]))));
      }
    }
  }

  // Behind all fields, in their order.
  Failure add_masks() {
    const size_t count = plan_.columns.size();
    for (size_t i = 0; i < count; ++i) {
      PlannedColumn mask = plan_.columns[i];
      mask.field = {};
      mask.field.name = plan_.columns[i].field.name + "/valid";
      mask.field.dtype = DL_DTYPE_BOOL;
      mask.is_mask = true;
      for (size_t other = 0; other < count; ++other) {
        if (plan_.columns[other].field.name != mask.field.name) continue;
        return failure(DL_ERR_UNSUPPORTED, path_, ": nulls=mask: a field is already called '",
                       mask.field.name, "'; leave it out with fields=");
      }
      for (Plan::Top& top : plan_.tops)
        if (std::find(top.columns.begin(), top.columns.end(), i) != top.columns.end())
          top.columns.push_back(plan_.columns.size());
      plan_.columns.push_back(std::move(mask));
    }
    return {};
  }

  void add_to_top(const Leaf& leaf, size_t index, const std::vector<parquet::arrow::SchemaField>& fields) {
    const auto number = static_cast<size_t>(leaf.path[0]);
    const auto known = std::find(numbers_.begin(), numbers_.end(), number);
    const auto at = static_cast<size_t>(known - numbers_.begin());
    if (known == numbers_.end()) {
      numbers_.push_back(number);
      plan_.tops.push_back({fields[number].field->name(), {}, {}});
    }
    Plan::Top& top = plan_.tops[at];
    top.leaves.insert(top.leaves.end(), leaf.parquet.begin(), leaf.parquet.end());
    std::sort(top.leaves.begin(), top.leaves.end());
    top.columns.push_back(index);
  }

  const std::string& path_;
  const FileOptions& options_;
  Plan& plan_;
  std::vector<Leaf> leaves_;
  std::vector<size_t> numbers_;  // of the tops, in the file's schema
};

}  // namespace

Failure plan_columns(const std::string& path, const std::vector<parquet::arrow::SchemaField>& fields,
                     const FileOptions& options, Plan* out) {
  return Planner(path, options, *out).plan(fields);
}

}  // namespace dataline_parquet
