// Views: typed spans over the batch's own bytes, rows, schemas, leases, DLPack.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstring>

#include "core/base/arrow_c_data.h"
#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

// As in dlpack.h, which the host brings.
extern "C" {
struct DLTensor {
  void* data;
  int32_t device[2];
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
  uint32_t version[2];
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};
}

namespace dataline::cpp_tests::view_test {
namespace {

static_assert(dtype_of<bool>() == DL_DTYPE_BOOL && dtype_of<uint8_t>() == DL_DTYPE_U8);
static_assert(dtype_of<long>() == DL_DTYPE_I64 && dtype_of<long long>() == DL_DTYPE_I64);
static_assert(dtype_of<const float>() == DL_DTYPE_F32 && dtype_of<Half>() == DL_DTYPE_F16);
static_assert(dtype_of<std::complex<double>>() == DL_DTYPE_C128 && DtypeOf<char>::value == 0);

Batch batch_of(const Dataset& dataset, const Options& options = {}) {
  return Loader(dataset, options).next().value();
}

TEST(CppView, IsTheBatchsOwnMemoryWithShapeAndStrides) {
  const Batch batch =
      batch_of(Dataset::copy_arrays({Array("x", std::vector<float>(24), {4, 3, 2}).axes("HW")}));
  const View view = batch[0];
  EXPECT_STREQ(view.name(), "x");
  EXPECT_STREQ(view.dtype_name(), "f32");
  EXPECT_EQ(view.rank(), 3);
  EXPECT_EQ(std::vector<int64_t>(view.shape().begin(), view.shape().end()), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(std::vector<int64_t>(view.strides().begin(), view.strides().end()),
            (std::vector<int64_t>{6, 2, 1}));
  EXPECT_STREQ(view.axes(), "NHW");
  EXPECT_EQ(view.bytes(), 96);
  EXPECT_EQ(view.samples(), 4);
  EXPECT_EQ(view.device_type(), DL_DEVICE_CPU);
  EXPECT_EQ(view.as<float>().data(), view.data());
  EXPECT_EQ(view.as<float>().size(), 24u);
  EXPECT_EQ(view.as<std::byte>().size(), 96u);
  EXPECT_EQ(static_cast<const void*>(view.rows<std::byte>()[2].data()), view.as<float>().data() + 12);
  view.writable<float>()[5] = 2.5f;
  EXPECT_EQ(batch["x"].rows<float>()[0][5], 2.5f);
}

TEST(CppView, AnotherTypeIsRefusedByName) {
  const Batch batch = batch_of(counting(3));
  const Error error = thrown_by([&] { batch["data"].as<float>(); });
  EXPECT_EQ(error.code(), DL_ERR_MISMATCH);
  EXPECT_TRUE(says(error, {"'data'", "u64", "f32"}));
  EXPECT_EQ(batch["data"].try_as<int64_t>().status(), DL_ERR_MISMATCH);
  EXPECT_EQ(batch["data"].try_rows<Half>().status(), DL_ERR_MISMATCH);
  EXPECT_EQ(batch["data"].try_writable<uint8_t>().status(), DL_ERR_MISMATCH);
}

TEST(CppView, AMissingFieldIsAnErrorThatListsThoseThereAre) {
  const Batch batch = batch_of(counting(3));
  const Error error = thrown_by([&] { batch["image"]; });
  EXPECT_EQ(error.code(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_TRUE(says(error, {"'image'", "data"}));
  EXPECT_EQ(batch.try_view(1).status(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(batch.try_view(-1).status(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_FALSE(batch.views().find("image"));
  EXPECT_TRUE(batch.views().find("data"));
}

TEST(CppView, SchemasHaveNoData) {
  const Dataset dataset = counting(3);
  EXPECT_EQ(dataset.fields()[0].try_as<uint64_t>().status(), DL_ERR_WRONG_STATE);
  EXPECT_EQ(dataset.fields()[0].data(), nullptr);
  EXPECT_EQ(dataset.fields()[0].rank(), 0);
  Loader loader(dataset, {{"batch_size", 2}, {"last_batch", "drop"}, {"transform", "cast(f32)"}});
  int fields = 0;
  for (const View field : loader.fields()) {
    ++fields;
    EXPECT_EQ(field.dtype(), DL_DTYPE_F32);
    EXPECT_EQ(field.shape()[0], -1) << "a bad sample makes a batch shorter";
  }
  EXPECT_EQ(fields, 1);
}

TEST(CppView, OverlappingWindowsAreReadOnlyAndReadRowByRow) {
  const TempDir dir;
  std::string tokens;
  for (char i = 0; i < 17; ++i) tokens += std::string{i, '\0'};
  const Dataset dataset("tokens:" + dir.write("t.bin", tokens) + "?length=4&views=true");
  const Batch batch = batch_of(dataset);
  const View x = batch["x"], y = batch["y"];
  EXPECT_TRUE(x.read_only() && y.overlapping());
  ASSERT_EQ(x.samples(), 4);
  const Rows<uint16_t> rows = y.rows<uint16_t>();
  uint16_t expected = 1;
  for (const Span<const uint16_t> row : rows) {
    ASSERT_EQ(row.size(), 4u);
    for (const uint16_t token : row) EXPECT_EQ(token, expected++);
  }
  EXPECT_EQ(x.try_as<uint16_t>().status(), DL_ERR_UNSUPPORTED) << "not contiguous";
  const Batch one = batch_of(dataset, {{"batch_size", 1}});
  EXPECT_TRUE(one["x"].try_as<uint16_t>());
  EXPECT_EQ(one["x"].try_writable<uint16_t>().status(), DL_ERR_UNSUPPORTED) << "read-only";
}

TEST(CppView, RaggedRowsFollowTheOffsets) {
  const std::vector<uint16_t> items = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> offsets = {0, 2, 2, 3};
  const Batch batch = batch_of(Dataset::copy_arrays({Array::ragged("words", items, offsets, {2})}));
  const View view = batch["words"];
  EXPECT_TRUE(view.is_ragged());
  EXPECT_EQ(view.samples(), 3);
  EXPECT_EQ(std::vector<int64_t>(view.offsets().begin(), view.offsets().end()), offsets);
  EXPECT_EQ(view.shape()[0], 3);
  const Rows<uint16_t> rows = view.rows<uint16_t>();
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(std::vector<uint16_t>(rows[0].begin(), rows[0].end()), (std::vector<uint16_t>{1, 2, 3, 4}));
  EXPECT_TRUE(rows[1].empty());
  EXPECT_EQ(rows[2][1], 6);
  EXPECT_EQ(view.rows<std::byte>()[0].size(), 8u);
  EXPECT_EQ(view.as<uint16_t>().size(), 6u);
}

TEST(CppBatch, TellsWhichSamplesItHolds) {
  Loader loader(counting(5), {{"batch_size", 4}, {"last_batch", "pad"}});
  loader.next().value();
  const Batch last = loader.next().value();
  EXPECT_EQ(last.epoch(), 0);
  EXPECT_EQ(last.step(), 1);
  EXPECT_EQ(last.samples(), 4);
  EXPECT_EQ(last.valid(), 1);
  EXPECT_EQ(last.sample_indices()[0], 4);
  EXPECT_EQ(last.sample_sources().size(), 4u);
  EXPECT_EQ(last.info().step, 1);
}

TEST(CppBatch, CopiesHoldTheBytesUntilTheLastIsGone) {
  Loader loader(counting(64), {{"batch_size", 8}, {"epochs", 1}});
  std::vector<Batch> kept;
  for (const Batch& batch : loader) kept.push_back(batch);
  ASSERT_EQ(kept.size(), 8u);
  EXPECT_EQ(loader.stats().leases_held, 8);
  const Batch again = kept[3];
  kept.resize(4);
  EXPECT_EQ(loader.stats().leases_held, 4);
  kept.clear();
  EXPECT_EQ(loader.stats().leases_held, 1);
  loader = Loader();
  EXPECT_EQ(values_of(again)[0], 24u) << "outlives its loader and its dataset";
  Batch moved = again;
  moved.wait(nullptr);
  moved.release_on(nullptr);
  EXPECT_FALSE(moved);
}

TEST(CppBatch, ADlpackTensorHoldsTheBatch) {
  Loader loader(Dataset::copy_arrays({Array("x", std::vector<float>(6, 1.5f), {3, 2})}));
  Batch batch = loader.next().value();
  Dlpack<DLManagedTensorVersioned> tensor = batch.dlpack(0);
  Dlpack<DLManagedTensor> plain = batch.dlpack<DLManagedTensor>(0);
  EXPECT_EQ(tensor->dl_tensor.data, batch[0].data());
  EXPECT_EQ(tensor->dl_tensor.shape[1], 2);
  EXPECT_EQ(plain->dl_tensor.bits, 32);
  batch.reset();
  plain.reset();
  EXPECT_EQ(loader.stats().leases_held, 1);
  loader = Loader();
  EXPECT_EQ(static_cast<const float*>(tensor->dl_tensor.data)[5], 1.5f);
}

TEST(CppBatch, AnArrowArrayHoldsTheBatch) {
  Loader loader(Dataset::copy_arrays({Array("x", std::vector<float>(6, 1.5f), {3, 2})}));
  Batch batch = loader.next().value();
  ArrowSchema schema = {};
  ArrowArray array = {};
  batch.arrow(&schema, &array);
  EXPECT_STREQ(schema.children[0]->format, "+w:2");
  EXPECT_EQ(array.children[0]->children[0]->buffers[1], batch[0].data());
  EXPECT_EQ(batch.try_arrow(&schema, nullptr).status(), DL_ERR_INVALID_ARGUMENT);
  batch.reset();
  loader = Loader();
  EXPECT_EQ(static_cast<const float*>(array.children[0]->children[0]->buffers[1])[5], 1.5f);
  // And back: what was a batch is a dataset.
  Loader again(Dataset::from_arrow(&schema, &array, "fields=x"));
  EXPECT_EQ(schema.release == nullptr && array.release == nullptr, true) << "taken";
  const Batch same = again.next().value();
  EXPECT_EQ(same[0].shape()[1], 2);
  EXPECT_EQ(same[0].as<float>()[5], 1.5f);
  EXPECT_EQ(Dataset::try_from_arrow(&schema, &array).status(), DL_ERR_INVALID_ARGUMENT) << "released already";
}

TEST(CppBatch, DlpackRefusesWhatItCannotSay) {
  const TempDir dir;
  const Dataset dataset("tokens:" + dir.write("t.bin", std::string(34, '\1')) + "?length=4&views=true");
  const Batch batch = batch_of(dataset);
  EXPECT_EQ(batch.try_dlpack<DLManagedTensor>(0).status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(batch.try_dlpack(9).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(batch.dlpack(0)->flags, 1u) << "read-only";
}

}  // namespace
}  // namespace dataline::cpp_tests::view_test
