// A delivered tensor as packed bytes in C order.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/pack.h"

#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

struct Packer {
  const dl_view& view;
  int64_t item_bytes;
  int32_t packed_from;   // first of the dims without gaps between them
  int64_t packed_bytes;  // of these dims together
  Output& output;

  void append(int32_t dim, const char* at) const {
    if (dim == packed_from) {
      output.append(at, static_cast<size_t>(packed_bytes));
      return;
    }
    for (int64_t i = 0; i < view.shape[dim]; ++i) append(dim + 1, at + i * view.strides[dim] * item_bytes);
  }
};

}  // namespace

void append_packed(const dl_view& view, Output& output) {
  if (view.device_type != DL_DEVICE_CPU) {
    throw Failure{.message =
                      std::string("field ") + view.name + " is on a device; cat writes from host memory"};
  }
  Packer packer{view, dl_dtype_bytes(view.dtype), view.rank, dl_dtype_bytes(view.dtype), output};
  for (int32_t dim = view.rank - 1; dim >= 0; --dim) {
    if (view.shape[dim] == 0) return;
    if (view.shape[dim] != 1 && view.strides[dim] * packer.item_bytes != packer.packed_bytes) break;
    packer.packed_bytes *= view.shape[dim];
    packer.packed_from = dim;
  }
  packer.append(0, static_cast<const char*>(view.data) + view.byte_offset);
}

}  // namespace dataline::cli
