// Bools of other programs, whatever byte stands for true, arrive as 0 and 1: to Rust and C++ another byte in a bool is
// undefined behaviour, so no binding has to look.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/capi/host_data.h"

namespace dataline::tests::bools_test {
namespace {

// Four samples of three bools.
const std::string kStored("\0\1\2\3\4\0\377\0\200\0\0\5", 12);
const std::string kDelivered("\0\1\1\1\1\0\1\0\1\0\0\1", 12);

std::string npy_of_bools() {
  std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (4, 3), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + kStored;
}

// With and without threads, rows side by side and from anywhere.
void expect_settled(const Dataset& dataset, const std::string& delivered = kDelivered) {
  ASSERT_NE(dataset, nullptr);
  for (const char* workers : {"0", "2"}) {
    EXPECT_EQ(
        epoch_bytes(make_loader(dataset, {{"batch_size", "3"}, {"num_workers", workers}, {"epochs", "1"}})),
        delivered);
    Loader loader = make_loader(dataset, {{"num_workers", workers}, {"shuffle", "full"}, {"epochs", "1"}});
    for (const char byte : epoch_bytes(loader)) EXPECT_LE(static_cast<unsigned char>(byte), 1);
  }
}

TEST(Bools, OfAnNpyFileAreZeroOrOne) {
  TempDir dir;
  const std::string uri = "npy:" + dir.write("a.npy", npy_of_bools());
  for (const char* io : {"mmap", "pread", "memory"}) expect_settled(open_dataset(uri, {{"io", io}}).dataset);
}

TEST(Bools, OfRawFilesAndPackedFieldsAreZeroOrOne) {
  TempDir dir;
  const std::string file = dir.write("a.raw", kStored);
  expect_settled(open_dataset("raw:" + file + "?dtype=bool&shape=3").dataset);
  expect_settled(open_dataset("raw:" + file + "?dtype=bool").dataset);
  const Dataset packed = open_dataset("raw:" + file + "?fields=flag:bool,rest:u8[2]").dataset;
  Delivered got = next(make_loader(packed, {{"batch_size", "4"}}));
  EXPECT_EQ(row_bytes(got.batch.get(), 0), std::string("\0\1\1\0", 4));
  EXPECT_EQ(row_bytes(got.batch.get(), 1), std::string("\1\2\4\0\0\200\0\5", 8)) << "no bools, and as stored";
}

TEST(Bools, OfArraysAreZeroOrOneDenseStridedAndRagged) {
  const std::vector<int64_t> shape = {4, 3}, column = {4}, flat = {12}, offsets = {0, 3, 3, 5, 12};
  expect_settled(from_arrays({array_of("data", DL_DTYPE_BOOL, shape, kStored.data())}).dataset);
  dl_array strided = array_of("data", DL_DTYPE_BOOL, column, kStored.data() + 2);
  strided.kind = DL_KIND_STRIDED;
  strided.row_stride_bytes = 3;
  expect_settled(from_arrays({strided}).dataset, std::string("\1\0\1\1", 4));
  expect_settled(
      from_arrays({ragged_array_of("data", DL_DTYPE_BOOL, flat, kStored.data(), offsets)}).dataset);
}

TEST(Bools, OfReadersAreZeroOrOne) {
  const auto read = [](void*, dl_reader_request* request) -> int32_t {
    for (int32_t r = 0; r < request->record_count; ++r) {
      const char* stored = kStored.data() + request->indices[r] * 3;
      if (r % 2 == 0) std::memcpy(dl_reader_cell_at(request, r, 0)->data, stored, 3);
      if (r % 2 == 1) dl_reader_cell_at(request, r, 0)->borrowed = stored;
    }
    return 0;
  };
  expect_settled(reader_dataset({field_of("data", DL_DTYPE_BOOL, {3})}, 4, read));
}

TEST(Bools, StaySettledThroughOperatorsAndComposition) {
  const std::vector<int64_t> shape = {4, 3};
  Dataset dataset = from_arrays({array_of("data", DL_DTYPE_BOOL, shape, kStored.data())}).dataset;
  for (const char* text : {"flatten", "reshape(3x1)", "cast(bool)", "cast(f32), cast(bool)"}) {
    EXPECT_EQ(epoch_bytes(make_loader(dataset, {{"transform", text}, {"epochs", "1"}})), kDelivered) << text;
  }
  dl_dataset* const parts[] = {dataset.get(), dataset.get()};
  dl_dataset* joined = nullptr;
  ASSERT_EQ(dl_dataset_concat(parts, 2, nullptr, &joined, nullptr), DL_OK);
  expect_settled(Dataset(joined), kDelivered + kDelivered);
}

}  // namespace
}  // namespace dataline::tests::bools_test
