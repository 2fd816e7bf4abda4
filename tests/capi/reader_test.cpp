// Records that a C host lends: at any address, through any transform, and in cells of a later library.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/capi/host_data.h"

namespace dataline::testing {
namespace {

constexpr int64_t kRecords = 37;

// Rows of `bytes` each, one after another, lent from an address that no type likes.
struct LentRows {
  std::vector<char> memory;
  int64_t bytes;
  LentRows(const std::string& rows, int64_t row_bytes) : memory(rows.size() + 64), bytes(row_bytes) {
    std::memcpy(first(), rows.data(), rows.size());
  }
  char* first() { return memory.data() + (65 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }

  static int32_t read(void* context, dl_reader_request* request) {
    auto* self = static_cast<LentRows*>(context);
    for (int32_t r = 0; r < request->record_count; ++r)
      dl_reader_cell_at(request, r, 0)->borrowed = self->first() + request->indices[r] * self->bytes;
    return 0;
  }
  Dataset dataset(int32_t dtype, const std::vector<int64_t>& shape) {
    return reader_dataset({field_of("data", dtype, shape)}, kRecords, &LentRows::read, this);
  }
};

TEST(LentRows, AtOddAddressesAreConvertedAsAlignedOnes) {
  struct Case {
    int32_t dtype;
    std::vector<int64_t> shape;  // of one row
    const char* transform;
  };
  const Case cases[] = {{DL_DTYPE_F32, {19}, ""},
                        {DL_DTYPE_F32, {19}, "cast(f16)"},
                        {DL_DTYPE_F32, {19}, "cast(bf16)"},
                        {DL_DTYPE_F64, {7, 5}, "cast(f32), scale(0.5)"},
                        {DL_DTYPE_U16, {16, 9, 3}, "cast(f32), chw"},
                        {DL_DTYPE_U16, {16, 9, 3}, "random_crop(8x8), hflip, cast(f32), chw"},
                        {DL_DTYPE_I16, {33}, "cast(f32), pad_to(40)"},
                        {DL_DTYPE_F32, {16, 9, 3}, "chw"},
                        {DL_DTYPE_C128, {3}, ""},
                        {DL_DTYPE_U8, {16, 9, 3}, "resize(7x5), normalize(mean=0.5, std=0.25), chw"},
                        {DL_DTYPE_U8, {}, "one_hot(256)"},
                        {DL_DTYPE_I64, {}, ""}};
  for (const Case& one : cases) {
    int64_t bytes = dl_dtype_bytes(one.dtype);
    std::vector<int64_t> shape = {kRecords};
    for (const int64_t dim : one.shape) {
      bytes *= dim;
      shape.push_back(dim);
    }
    std::string rows(static_cast<size_t>(kRecords * bytes), '\0');
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(i * 37 + i / 251);
    if (one.dtype == DL_DTYPE_F32 || one.dtype == DL_DTYPE_F64) {  // no NaN: their bits may change in a cast
      for (size_t i = 3; i < rows.size(); i += 4) rows[i] = 0x3f;
    }
    LentRows lent(rows, bytes);
    const Dataset odd = lent.dataset(one.dtype, one.shape);
    const Dataset aligned = from_arrays({array_of("data", one.dtype, shape, rows.data())}).dataset;
    for (const char* workers : {"0", "2"}) {
      const Settings job = {{"transform", one.transform},
                            {"shuffle", "full"},
                            {"batch_size", "10"},
                            {"num_workers", workers},
                            {"epochs", "1"}};
      EXPECT_EQ(epoch_bytes(make_loader(odd, job)), epoch_bytes(make_loader(aligned, job)))
          << dl_dtype_name(one.dtype) << " " << one.transform;
    }
  }
}

TEST(ReaderCells, AreTakenByTheirDistanceSoThatTheyMayGrow) {
  constexpr size_t kDistance = sizeof(dl_reader_cell) + 40;
  std::vector<char> memory(6 * kDistance, '\x5a');
  dl_reader_request request = {};
  request.record_count = 3;
  request.field_count = 2;
  request.cell_bytes = kDistance;
  request.cells = reinterpret_cast<dl_reader_cell*>(memory.data());
  for (int32_t r = 0; r < 3; ++r) {
    for (int32_t f = 0; f < 2; ++f) {
      EXPECT_EQ(reinterpret_cast<char*>(dl_reader_cell_at(&request, r, f)),
                memory.data() + static_cast<size_t>(2 * r + f) * kDistance);
    }
  }
}

}  // namespace
}  // namespace dataline::testing
