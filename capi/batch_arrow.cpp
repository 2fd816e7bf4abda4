// Batches as Arrow struct arrays. Structs, formats and rules of release: Apache Arrow, "The Arrow C data interface".
//
// Every array, children too, holds the lease by a reference of its own, because a consumer may move a child out and release
// the rest. The releases may run on any thread and after the loader is destroyed.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/handles.h"
#include "core/base/arrow_c_data.h"
#include "core/base/dtype.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

template <typename Struct>
using Owned = ArrowOwned<Struct>;

// What a struct points to. Its children are released with it, but for those that were moved out.
template <typename Struct>
struct Node {
  std::vector<Owned<Struct>> children;
  std::vector<Struct*> pointers;
};

struct SchemaNode : Node<ArrowSchema> {
  std::string format, name;
};

// The batch, until the last array that was made of it is released.
class Lease {
 public:
  explicit Lease(Batch* batch) : batch_(batch) { batch->retain(); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { batch_->release(); }

 private:
  Batch* batch_;
};
using LeaseRef = std::shared_ptr<const Lease>;

struct ArrayNode : Node<ArrowArray> {
  LeaseRef lease;
  std::vector<std::byte> copy;  // of what the batch has in another layout
  std::array<const void*, 3> buffers = {};
};

template <typename Struct, typename Held>
void release(Struct* self) {
  delete static_cast<Held*>(self->private_data);
  self->release = nullptr;
}

template <typename Held, typename Struct>
void keep(std::unique_ptr<Held> node, Owned<Struct>& out) {
  for (Owned<Struct>& child : node->children) node->pointers.push_back(&child.raw);
  out.raw.n_children = static_cast<int64_t>(node->children.size());
  out.raw.children = node->pointers.data();
  out.raw.release = release<Struct, Held>;
  out.raw.private_data = node.release();
}

Owned<ArrowSchema> schema_of(std::string format, std::string name,
                             std::vector<Owned<ArrowSchema>> children = {}) {
  auto node = std::make_unique<SchemaNode>();
  node->format = std::move(format);
  node->name = std::move(name);
  node->children = std::move(children);
  Owned<ArrowSchema> out;
  out.raw.format = node->format.c_str();
  out.raw.name = node->name.c_str();
  // What Arrow's libraries make by default; schemas that differ in it alone are not equal to them.
  out.raw.flags = ARROW_FLAG_NULLABLE;
  keep(std::move(node), out);
  return out;
}

// `buffers` of the node's are the array's; the first is the validity bitmap, which is never needed.
Owned<ArrowArray> array_of(int64_t length, int64_t buffers, std::unique_ptr<ArrayNode> node) {
  static constexpr std::byte kNothing[64] = {};  // buffers of no bytes have an address too
  for (int64_t b = 1; b < buffers; ++b) {
    const void*& buffer = node->buffers[static_cast<size_t>(b)];
    if (buffer == nullptr) buffer = kNothing;
  }
  Owned<ArrowArray> out;
  out.raw.length = length;
  out.raw.n_buffers = buffers;
  out.raw.buffers = node->buffers.data();
  keep(std::move(node), out);
  return out;
}

std::unique_ptr<ArrayNode> node_of(const LeaseRef& lease) {
  auto node = std::make_unique<ArrayNode>();
  node->lease = lease;
  return node;
}

template <typename Struct>
std::vector<Owned<Struct>> only(Owned<Struct> child) {
  std::vector<Owned<Struct>> out;
  out.push_back(std::move(child));
  return out;
}

// The format of a dtype; null: Arrow has none.
const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "b";
    case DType::kU8:
      return "C";
    case DType::kU16:
      return "S";
    case DType::kU32:
      return "I";
    case DType::kU64:
      return "L";
    case DType::kI8:
      return "c";
    case DType::kI16:
      return "s";
    case DType::kI32:
      return "i";
    case DType::kI64:
      return "l";
    case DType::kF16:
      return "e";
    case DType::kF32:
      return "f";
    case DType::kF64:
      return "g";
    case DType::kBf16:
    case DType::kC64:
    case DType::kC128:
      break;
  }
  return nullptr;
}

// One field of a batch: its type, and its rows [0, rows).
class FieldExport {
 public:
  FieldExport(const BatchView& view, int64_t rows, const LeaseRef& lease)
      : view_(view), rows_(rows), lease_(lease), dtype_(static_cast<DType>(view.dtype)) {}

  Status check() const {
    if (format_of(dtype_) == nullptr) {
      return error(Code::kUnsupported, "field '", view_.name, "' is ", dtype_name(dtype_),
                   ", for which Arrow has no type",
                   dtype_ == DType::kBf16 ? "; add the transform cast(f32)" : "");
    }
    for (int32_t d = 1; d < view_.rank; ++d) {
      if (view_.shape[d] > INT32_MAX) {
        return error(Code::kUnsupported, "field '", view_.name, "' has a dim of ", view_.shape[d],
                     ", but Arrow's fixed-size lists hold at most ", INT32_MAX);
      }
    }
    return Status::ok();
  }

  Owned<ArrowSchema> schema() const {
    if (is_bytes()) return schema_of("Z", view_.name);
    Owned<ArrowSchema> out =
        schema_of(format_of(dtype_), view_.rank > 1 || is_ragged() ? "item" : view_.name);
    for (int32_t d = view_.rank - 1; d >= 1; --d) {
      const bool outer = d == 1 && !is_ragged();
      out = wrap("+w:" + std::to_string(view_.shape[d]), outer, std::move(out));
    }
    return is_ragged() ? wrap("+L", true, std::move(out)) : std::move(out);
  }

  Owned<ArrowArray> array() const {
    if (!is_ragged()) return dense(rows_);
    auto node = node_of(lease_);
    node->buffers[1] = view_.offsets;
    if (is_bytes()) {
      node->buffers[2] = first_byte();
      return array_of(rows_, 3, std::move(node));
    }
    node->children = only(dense(view_.offsets[rows_]));
    return array_of(rows_, 2, std::move(node));
  }

 private:
  bool is_ragged() const { return view_.offsets != nullptr; }
  bool is_bytes() const { return is_ragged() && view_.rank == 1 && dtype_ == DType::kU8; }

  Owned<ArrowSchema> wrap(std::string format, bool outermost, Owned<ArrowSchema> child) const {
    return schema_of(std::move(format), outermost ? view_.name : "item", only(std::move(child)));
  }

  const std::byte* first_byte() const {
    return view_.bytes > 0 ? static_cast<const std::byte*>(view_.data) + view_.byte_offset : nullptr;
  }

  // Of `count` rows or items: the innermost values, and a list of fixed size around them for each further dim.
  Owned<ArrowArray> dense(int64_t count) const {
    const int64_t each =
        std::accumulate(view_.shape + 1, view_.shape + view_.rank, int64_t{1}, std::multiplies<>());
    auto node = node_of(lease_);
    node->buffers[1] = values(count, each, node->copy);
    int64_t length = count * each;
    Owned<ArrowArray> out = array_of(length, 2, std::move(node));
    for (int32_t d = view_.rank - 1; d >= 1; --d) {
      length = std::accumulate(view_.shape + 1, view_.shape + d, count, std::multiplies<>());
      auto list = node_of(lease_);
      list->children = only(std::move(out));
      out = array_of(length, 1, std::move(list));
    }
    return out;
  }

  // In the batch's memory where rows lie one after another, as Arrow has them; else in `copy`.
  const void* values(int64_t count, int64_t each, std::vector<std::byte>& copy) const {
    const int64_t item_bytes = dtype_bytes(dtype_), row_bytes = each * item_bytes;
    const int64_t stride = is_ragged() ? row_bytes : view_.strides[0] * item_bytes;
    const std::byte* from = first_byte();
    const bool packed = stride == row_bytes || count <= 1;
    if (count * each == 0 || (packed && dtype_ != DType::kBool)) return from;
    if (dtype_ != DType::kBool) {
      copy.resize(static_cast<size_t>(count * row_bytes));
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(copy.data() + i * row_bytes, from + i * stride, static_cast<size_t>(row_bytes));
      return copy.data();
    }
    copy.resize(static_cast<size_t>((count * each + 7) / 8));
    for (int64_t i = 0, bit = 0; i < count; ++i) {
      for (int64_t k = 0; k < each; ++k, ++bit) {
        if (from[i * stride + k] != std::byte{0})
          copy[static_cast<size_t>(bit / 8)] |= std::byte{1} << (bit % 8);
      }
    }
    return copy.data();
  }

  const BatchView& view_;
  const int64_t rows_;
  const LeaseRef& lease_;
  const DType dtype_;
};

}  // namespace

extern "C" dl_status dl_batch_arrow(dl_batch* batch, ArrowSchema* schema, ArrowArray* array,
                                    dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(batch);
    DL_REQUIRE(schema);
    DL_REQUIRE(array);
    Batch* core = to_core(batch);
    if (core->on_device) {
      return dataline::error(Code::kUnsupported,
                             "the batch is in device memory, which Arrow arrays cannot refer to; use "
                             "dl_batch_dlpack for its fields");
    }
    const auto lease = std::make_shared<const Lease>(core);
    std::vector<Owned<ArrowSchema>> fields;
    auto node = node_of(lease);
    for (const BatchView& view : core->views.views()) {
      const FieldExport field(view, core->valid, lease);
      DL_RETURN_IF_ERROR(field.check());
      fields.push_back(field.schema());
      node->children.push_back(field.array());
    }
    Owned<ArrowSchema> all = schema_of("+s", "", std::move(fields));
    Owned<ArrowArray> rows = array_of(core->valid, 1, std::move(node));
    all.raw.flags = 0;  // of the rows themselves
    all.hand_on(schema);
    rows.hand_on(array);
    return Status::ok();
  });
}
