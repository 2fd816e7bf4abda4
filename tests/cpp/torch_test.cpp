// dataline_torch.hpp against LibTorch itself: dtypes, memory, leases, ragged fields, tensors as datasets.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cstring>
#include <dataline_torch.hpp>
#include <optional>
#include <thread>

#include "tests/cpp/fake_driver.h"
#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::torch_test {
namespace {

Batch batch_of(const Dataset& dataset, const Options& options = {}) {
  return Loader(dataset, options).next().value();
}

// Sixteen bytes an element is the most there is.
Dataset of_dtype(int32_t dtype, int64_t samples) {
  const std::vector<std::byte> bytes(static_cast<size_t>(samples) * 16);
  return Dataset::copy_arrays({Array("x", dtype, bytes.data(), {samples})});
}

at::Tensor range(int64_t n) { return at::arange(n, at::kLong); }

// One i64 field `data`: sample i is i.
Dataset counting_i64(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return Dataset::copy_arrays({Array("data", values)});
}

TEST(CppTorch, EveryDtypeIsTheOneOfItsTensor) {
  const std::vector<std::pair<const char*, at::ScalarType>> known = {
      {"bool", at::kBool}, {"u8", at::kByte},    {"i8", at::kChar},          {"i16", at::kShort},
      {"i32", at::kInt},   {"i64", at::kLong},   {"f16", at::kHalf},         {"bf16", at::kBFloat16},
      {"f32", at::kFloat}, {"f64", at::kDouble}, {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble}};
  for (const auto& [name, type] : known) {
    const int32_t dtype = dl_dtype_from_name(name);
    const at::Tensor tensor = to_tensor(batch_of(of_dtype(dtype, 3)), "x");
    EXPECT_EQ(tensor.scalar_type(), type) << name;
    EXPECT_EQ(tensor.element_size(), dl_dtype_bytes(dtype)) << name;
    EXPECT_TRUE(tensor.device().is_cpu());
    EXPECT_FALSE(tensor.requires_grad());
    EXPECT_EQ(try_dtype_of(type).value(), dtype) << name;
    EXPECT_EQ(scalar_type(dtype), type) << name;
  }
}

TEST(CppTorch, UnsignedWordsAreTensorsWhereLibTorchHasThem) {
  for (const char* name : {"u16", "u32", "u64"}) {
    const int32_t dtype = dl_dtype_from_name(name);
    const Result<at::Tensor> tensor = try_to_tensor(batch_of(of_dtype(dtype, 3)), "x");
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    ASSERT_TRUE(tensor) << tensor.error().message();
    EXPECT_EQ(Result<at::Tensor>(tensor)->element_size(), dl_dtype_bytes(dtype));
#else
    EXPECT_EQ(tensor.status(), DL_ERR_UNSUPPORTED);
    EXPECT_TRUE(says(tensor.error(), {"'x'", name, "cast"}));
    EXPECT_EQ(try_scalar_type(dtype).status(), DL_ERR_UNSUPPORTED);
#endif
  }
  EXPECT_EQ(try_dtype_of(at::kQInt8).status(), DL_ERR_UNSUPPORTED);
}

TEST(CppTorch, ValuesAreThoseThatLibTorchHasForTheSameBits) {
  const at::Tensor halves = at::tensor({1.5, -2.0, 0.25}).to(at::kHalf);
  const at::Tensor brains = at::tensor({1.5, -2.0, 0.25}).to(at::kBFloat16);
  const Dataset dataset = borrow_tensors({{"half", halves}, {"brain", brains}});
  const auto [half, brain] = to_tensors(batch_of(dataset), "half", "brain");
  EXPECT_TRUE(half.equal(halves));
  EXPECT_TRUE(brain.equal(brains));
}

TEST(CppTorch, ATensorLooksAtTheBatchsOwnBytes) {
  const Batch batch = batch_of(Dataset::copy_arrays({Array("x", std::vector<float>(24), {4, 3, 2})}));
  const at::Tensor tensor = to_tensor(batch, "x");
  EXPECT_EQ(tensor.data_ptr(), batch["x"].data());
  EXPECT_EQ(tensor.sizes(), at::IntArrayRef({4, 3, 2}));
  EXPECT_EQ(tensor.strides(), at::IntArrayRef({6, 2, 1}));
  EXPECT_TRUE(tensor.is_contiguous());
  tensor.add_(2.0);
  EXPECT_EQ(batch["x"].as<float>()[23], 2.0f);
  EXPECT_EQ(to_tensor(batch, 0).data_ptr(), tensor.data_ptr()) << "by number";
  EXPECT_EQ(to_tensor(batch, batch["x"]).data_ptr(), tensor.data_ptr()) << "by view";
}

TEST(CppTorch, ATensorHoldsItsBatchPastTheNextOnesAndTheLoader) {
  std::optional<Loader> loader(std::in_place, counting_i64(40),
                               Options{{"batch_size", 4}, {"num_workers", 1}});
  std::vector<at::Tensor> kept;
  for (Batch& batch : *loader) kept.push_back(to_tensor(batch, "data"));
  EXPECT_EQ(loader->stats().leases_held, 10);
  EXPECT_EQ(loader->stats().lease_copies, 6) << "those beyond max_leases, which is 4";
  loader.reset();
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(
        kept[i].equal(range(40).slice(0, static_cast<int64_t>(4 * i), static_cast<int64_t>(4 * i + 4))));
  }
}

TEST(CppTorch, TheLastAliasGivesTheSlotBackFromAnyThread) {
  Loader loader(counting_i64(40), {{"batch_size", 4}});
  at::Tensor row = to_tensor(loader.next().value(), "data")[2];
  EXPECT_EQ(loader.stats().leases_held, 1);
  EXPECT_EQ(row.item<int64_t>(), 2);
  std::thread([last = std::move(row)]() mutable { last = at::Tensor(); }).join();
  EXPECT_EQ(loader.stats().leases_held, 0);
}

TEST(CppTorch, NamesThatAreNotThereAreErrorsAndHoldNothing) {
  Loader loader(counting_i64(8), {{"batch_size", 4}});
  Batch batch = loader.next().value();
  const Error error = thrown_by([&] { to_tensors(batch, "data", "label"); });
  EXPECT_EQ(error.code(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_TRUE(says(error, {"label", "data"}));
  EXPECT_EQ(thrown_by([&] { offsets_tensor(batch, "data"); }).code(), DL_ERR_MISMATCH);
  batch.reset();
  EXPECT_EQ(loader.stats().leases_held, 0);
}

TEST(CppTorch, ARaggedFieldIsItsPackedRowsAndOffsets) {
  const std::vector<float> items = {0, 1, 2, 3, 4, 5};
  const std::vector<int64_t> offsets = {0, 2, 2, 6};
  Batch batch = batch_of(Dataset::copy_arrays({Array::ragged("words", items, offsets)}));
  const at::Tensor data = to_tensor(batch, "words"), places = offsets_tensor(batch, "words");
  batch.reset();
  EXPECT_TRUE(data.equal(at::arange(6, at::kFloat)));
  EXPECT_TRUE(places.equal(at::tensor({0, 2, 2, 6}, at::kLong)));
}

TEST(CppTorch, OverlappingWindowsKeepTheirStrides) {
  const TempDir folder;
  std::vector<int32_t> tokens(41);
  std::iota(tokens.begin(), tokens.end(), 0);
  const std::string path = folder.write(
      "tokens.bin", {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof tokens[0]});
  const Batch batch = batch_of(Dataset("tokens:" + path + "?dtype=i32&length=10&views=true"));
  const auto [x, y] = to_tensors(batch, "x", "y");
  EXPECT_EQ(x.strides(), at::IntArrayRef({11, 1}));
  EXPECT_TRUE((x + 1).equal(y));
  EXPECT_TRUE(batch["x"].read_only());
}

TEST(CppTorch, ABatchOfNoRowsIsATensorOfNoRows) {
  const Batch batch = batch_of(counting_i64(1), {{"world_size", 2}, {"rank", 0}, {"batch_size", 2}});
  const at::Tensor tensor = to_tensor(batch, "data");
  EXPECT_EQ(tensor.size(0), 0);
  EXPECT_EQ(tensor.sum().item<int64_t>(), 0);
}

TEST(CppTorch, BorrowedTensorsAreDeliveredAsIndexSelectWould) {
  const at::Tensor images = at::randint(0, 256, {300, 3, 5}, at::kByte), labels = range(300);
  Loader loader(borrow_tensors({{"image", images}, {"label", labels}}),
                {{"shuffle", "full"}, {"batch_size", 7}, {"epochs", 1}});
  int64_t rows = 0;
  for (Batch& batch : loader) {
    const auto [image, label] = to_tensors(batch, "image", "label");
    EXPECT_TRUE(image.equal(images.index_select(0, label)));
    EXPECT_TRUE(label.equal(indices_tensor(batch)));
    rows += label.size(0);
  }
  EXPECT_EQ(rows, 300);
}

TEST(CppTorch, BorrowedTensorsAreKeptAsLongAsTheirDatasetAndNoLonger) {
  at::Tensor tensor = range(10);
  const auto holders = [&] { return tensor.storage().use_count(); };
  const auto before = holders();
  {
    std::optional<Dataset> dataset = borrow_tensors({{"x", tensor}});
    EXPECT_GT(holders(), before) << "not copied";
    Loader loader(*dataset);
    dataset.reset();
    EXPECT_GT(holders(), before);
    EXPECT_TRUE(to_tensor(loader.next().value(), "x").equal(tensor));
  }
  EXPECT_EQ(holders(), before);
  EXPECT_EQ(try_borrow_tensors({{"x", tensor}, {"y", range(9)}}).status(), DL_ERR_MISMATCH);
  EXPECT_EQ(holders(), before) << "a call that fails keeps nothing";
}

TEST(CppTorch, TensorsThatAreNotContiguousOrNeedGradientsAreTaken) {
  const at::Tensor wide = at::rand({4, 6}).requires_grad_(true);
  const at::Tensor turned = to_tensor(batch_of(borrow_tensors({{"x", wide.t()}})), "x");
  EXPECT_TRUE(turned.equal(wide.t()));
  EXPECT_FALSE(turned.requires_grad());
}

TEST(CppTorch, TensorsThatCannotBeBorrowedAreRefusedByName) {
  EXPECT_TRUE(says(try_borrow_tensors({{"weights", at::Tensor()}}).error(), {"'weights'", "host memory"}));
  const at::Tensor sparse = at::eye(3).to_sparse();
  EXPECT_EQ(try_borrow_tensors({{"x", sparse}}).status(), DL_ERR_UNSUPPORTED);
}

TEST(CppTorch, AFieldIsCopiedIntoATensorThatStaysWhereItIs) {
  Loader loader(counting_i64(10), {{"batch_size", 4}, {"epochs", 1}});
  const at::Tensor input = at::zeros({4}, at::kLong);
  const void* const place = input.data_ptr();
  copy_into(loader.next().value(), "data", input);
  EXPECT_TRUE(input.equal(range(4)));
  copy_into(loader.next().value(), 0, input);
  EXPECT_TRUE(input.equal(range(8).slice(0, 4)));
  EXPECT_EQ(input.data_ptr(), place);
  EXPECT_EQ(loader.stats().leases_held, 0) << "the batch may go at once";
  const Batch shorter = loader.next().value();
  EXPECT_EQ(try_copy_into(shorter, "data", input).status(), DL_ERR_MISMATCH);
  EXPECT_TRUE(says(try_copy_into(shorter, "data", input).error(), {"'data'", "Long [2]", "Long [4]"}));
  EXPECT_TRUE(says(try_copy_into(shorter, "data", at::zeros({2})).error(), {"Long [2]", "Float [2]"}));
  EXPECT_TRUE(says(try_copy_into(shorter, "data", at::Tensor()).error(), {"not a tensor"}));
  EXPECT_EQ(try_copy_into(shorter, "label", input).status(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_TRUE(input.equal(range(8).slice(0, 4))) << "refused before anything is written";
}

#if !DATALINE_TORCH_CUDA
class CppTorchWithoutCuda : public OnFakeCuda {
 protected:
  static Options job() {
    Options options = on();
    options.set("batch_size", 4);
    return options;
  }
};

TEST_F(CppTorchWithoutCuda, ADeviceThatThisLibTorchCannotUseIsRefusedByName) {
  Loader loader(counting_i64(10), job());
  const Batch batch = loader.next().value();
  const Result<at::Tensor> tensor = try_to_tensor(batch, "data");
  EXPECT_EQ(tensor.status(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(says(tensor.error(), {"'data'", "cuda:0", "LibTorch " TORCH_VERSION, "device=cpu"}));
  EXPECT_EQ(thrown_by([&] { to_tensors(batch, "data"); }).code(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(try_copy_into(batch, "data", at::zeros({4}, at::kLong)).status(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(indices_tensor(batch).equal(range(4))) << "host memory, on every device";
  EXPECT_EQ(device_option(at::kCUDA), "cuda:0");
}
#endif

}  // namespace
}  // namespace dataline::cpp_tests::torch_test
