// SPDX-License-Identifier: Apache-2.0
#include "core/write/arrow/arrow_messages.h"

#include <string>
#include <string_view>

#include "core/write/arrow/flat_writer.h"
#include "core/write/rows.h"
#include "core/write/whole_numbers.h"

namespace dataline {
namespace {

using Flat = FlatBufferWriter;

// Numbers of Schema.fbs.
constexpr uint64_t kV5 = 4;
enum Kind : uint64_t { kSchemaHeader = 1, kBatchHeader = 3 };
enum TypeNumber : uint64_t {
  kIntType = 2,
  kFloatType = 3,
  kBoolType = 6,
  kFixedSizeListType = 16,
  kLargeBinaryType = 19,
  kLargeListType = 21
};

bool is_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64; }

TypeNumber type_of_values(DType dtype) {
  return dtype == DType::kBool ? kBoolType : is_float(dtype) ? kFloatType : kIntType;
}

// {"shape": [28, 28, 1], "dim_names": ["H", "W", "C"]}
std::string tensor_metadata(const Field& field) {
  std::string shape, names;
  for (size_t d = 0; d < field.shape.size(); ++d) {
    shape += (d == 0 ? "" : ", ") + std::to_string(field.shape[d]);
    names += (d == 0 ? "\"" : ", \"") + std::string(1, field.axes[d]) + "\"";
  }
  return "{\"shape\": [" + shape + "], \"dim_names\": [" + names + "]}";
}

class SchemaWriter {
 public:
  explicit SchemaWriter(Flat& flat) : flat_(flat) {}

  // Returns where the table lies.
  size_t schema(const std::vector<Field>& fields) {
    const std::vector<size_t> places = flat_.table({Flat::reference(1)});
    const size_t table = flat_.last_table();
    const size_t list = flat_.vector(fields.size(), 4);
    flat_.point(places[0], list);
    std::vector<size_t> slots;
    for (size_t f = 0; f < fields.size(); ++f) {
      slots.push_back(flat_.size());
      flat_.put(uint32_t{0});
    }
    for (size_t f = 0; f < fields.size(); ++f) flat_.point(slots[f], outermost(fields[f]));
    return table;
  }

 private:
  size_t outermost(const Field& field) {
    if (is_bytes(field)) return node(field.name, kLargeBinaryType, 0, field, 0);
    if (field.kind == FieldKind::kRagged) return node(field.name, kLargeListType, 0, field, 1);
    if (is_arrow_tensor(field)) {
      int64_t values = 1;
      for (const int64_t dim : field.shape) values *= dim;
      return node(field.name, kFixedSizeListType, values, field, field.shape.size(), true);
    }
    return dims(field.name, field, 0);
  }

  // What is left of the shape from dim `d` on.
  size_t dims(std::string_view name, const Field& field, size_t d) {
    if (d == field.shape.size()) return node(name, type_of_values(field.dtype), 0, field, d);
    return node(name, kFixedSizeListType, field.shape[d], field, d + 1);
  }

  // A Field with its type; a list has one child, of what is left from dim `next` on.
  size_t node(std::string_view name, TypeNumber type, int64_t list_size, const Field& field, size_t next,
              bool tensor = false) {
    std::vector<size_t> places =
        tensor ? flat_.table({Flat::reference(0), Flat::number(1, 1, 1), Flat::number(2, 1, type),
                              Flat::reference(3), Flat::reference(5), Flat::reference(6)})
               : flat_.table({Flat::reference(0), Flat::number(1, 1, 1), Flat::number(2, 1, type),
                              Flat::reference(3), Flat::reference(5)});
    const size_t table = flat_.last_table();
    flat_.point(places[0], flat_.text(name));
    type_table(places[3], type, list_size, field.dtype);
    const bool list = type == kFixedSizeListType || type == kLargeListType;
    const size_t children = flat_.vector(list ? 1 : 0, 4);
    flat_.point(places[4], children);
    if (list) {
      const size_t slot = flat_.size();
      flat_.put(uint32_t{0});
      flat_.point(slot, dims("item", field, next));
    }
    if (tensor) extension(places[5], field);
    return table;
  }

  void type_table(size_t place, TypeNumber type, int64_t list_size, DType dtype) {
    switch (type) {
      case kIntType:
        flat_.table({Flat::number(0, 4, static_cast<uint64_t>(8 * dtype_bytes(dtype))),
                     Flat::number(1, 1, is_signed_dtype(dtype) ? 1 : 0)});
        break;
      case kFloatType:
        flat_.table({Flat::number(0, 2, dtype == DType::kF16 ? 0 : dtype == DType::kF32 ? 1 : 2)});
        break;
      case kFixedSizeListType:
        flat_.table({Flat::number(0, 4, static_cast<uint64_t>(list_size))});
        break;
      case kBoolType:
      case kLargeBinaryType:
      case kLargeListType:
        flat_.table({});
        break;
    }
    flat_.point(place, flat_.last_table());
  }

  void extension(size_t place, const Field& field) {
    const std::string_view keys[] = {"ARROW:extension:name", "ARROW:extension:metadata"};
    const std::string values[] = {"arrow.fixed_shape_tensor", tensor_metadata(field)};
    flat_.point(place, flat_.vector(2, 4));
    const size_t slots[] = {flat_.size(), flat_.size() + 4};
    flat_.put(uint32_t{0});
    flat_.put(uint32_t{0});
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<size_t> pair = flat_.table({Flat::reference(0), Flat::reference(1)});
      flat_.point(slots[i], flat_.last_table());
      flat_.point(pair[0], flat_.text(keys[i]));
      flat_.point(pair[1], flat_.text(values[i]));
    }
  }

  Flat& flat_;
};

// Begins a Message and returns where the reference to its header lies.
size_t begin_message(Flat& flat, Kind kind, int64_t body_bytes) {
  const std::vector<size_t> places =
      flat.table({Flat::number(3, 8, static_cast<uint64_t>(body_bytes)), Flat::number(0, 2, kV5),
                  Flat::number(1, 1, kind), Flat::reference(2)});
  flat.point(0, flat.last_table());
  return places[3];
}

}  // namespace

bool is_arrow_tensor(const Field& field) {
  return field.kind == FieldKind::kDense && !field.shape.empty() && field.axes.size() == field.shape.size();
}

Status check_arrow_fields(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (field.dtype == DType::kBf16 || field.dtype == DType::kC64 || field.dtype == DType::kC128) {
      return error(Code::kUnsupported, "field '", field.name, "' is ", dtype_name(field.dtype),
                   ", for which Arrow has no type",
                   field.dtype == DType::kBf16 ? "; add the transform cast(f32)" : "");
    }
    int64_t values = 1;
    for (const int64_t dim : field.shape) {
      if (dim >= 0) values *= dim;
      if (dim > INT32_MAX || (is_arrow_tensor(field) && values > INT32_MAX)) {
        return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                     ", but Arrow's fixed-size lists hold at most ", INT32_MAX, " values");
      }
    }
  }
  return Status::ok();
}

std::vector<std::byte> arrow_schema_message(const std::vector<Field>& fields) {
  Flat flat;
  const size_t header = begin_message(flat, kSchemaHeader, 0);
  flat.point(header, SchemaWriter(flat).schema(fields));
  return flat.bytes();
}

std::vector<std::byte> arrow_batch_message(int64_t rows, const std::vector<ArrowNodeCounts>& nodes,
                                           const std::vector<ArrowBufferPlace>& buffers, int64_t body_bytes,
                                           WriteCodec codec) {
  Flat flat;
  const size_t header = begin_message(flat, kBatchHeader, body_bytes);
  const bool plain = codec == WriteCodec::kNone;
  const std::vector<size_t> places =
      plain ? flat.table(
                  {Flat::number(0, 8, static_cast<uint64_t>(rows)), Flat::reference(1), Flat::reference(2)})
            : flat.table({Flat::number(0, 8, static_cast<uint64_t>(rows)), Flat::reference(1),
                          Flat::reference(2), Flat::reference(3)});
  flat.point(header, flat.last_table());
  if (!plain) {
    flat.table({Flat::number(0, 1, codec == WriteCodec::kLz4 ? 0 : 1)});
    flat.point(places[3], flat.last_table());
  }
  flat.point(places[1], flat.vector(nodes.size(), 8));
  for (const ArrowNodeCounts& node : nodes) {
    flat.put(node.length);
    flat.put(int64_t{0});  // nulls
  }
  flat.point(places[2], flat.vector(buffers.size(), 8));
  for (const ArrowBufferPlace& buffer : buffers) {
    flat.put(buffer.offset);
    flat.put(buffer.bytes);
  }
  return flat.bytes();
}

std::vector<std::byte> arrow_footer(const std::vector<Field>& fields,
                                    const std::vector<ArrowFileBlock>& batches) {
  Flat flat;
  const std::vector<size_t> places =
      flat.table({Flat::number(0, 2, kV5), Flat::reference(1), Flat::reference(2), Flat::reference(3)});
  flat.point(0, flat.last_table());
  flat.point(places[2], flat.vector(0, 8));  // dictionaries
  flat.point(places[3], flat.vector(batches.size(), 8));
  for (const ArrowFileBlock& batch : batches) {
    flat.put(batch.offset);
    flat.put(batch.metadata_bytes);
    flat.put(int32_t{0});
    flat.put(batch.body_bytes);
  }
  flat.point(places[1], SchemaWriter(flat).schema(fields));
  return flat.bytes();
}

}  // namespace dataline
