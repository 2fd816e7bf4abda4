// zip, concat and subset through the C ABI, and batches as DLPack tensors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/capi/host_data.h"

namespace dataline::tests::compose_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Compose = dl_status (*)(dl_dataset* const*, const char* const*, int32_t, const dl_options*,
                              dl_dataset**, dl_error*);
dl_status concat_unnamed(dl_dataset* const* parts, const char* const*, int32_t count,
                         const dl_options* options, dl_dataset** out, dl_error* error) {
  return dl_dataset_concat(parts, count, options, out, error);
}

Made compose(Compose how, const std::vector<const Dataset*>& parts,
             const std::vector<const char*>& names = {}) {
  std::vector<dl_dataset*> handles;
  for (const Dataset* part : parts) handles.push_back(part->get());
  Made out;
  dl_dataset* dataset = nullptr;
  out.status = how(handles.data(), names.empty() ? nullptr : names.data(),
                   static_cast<int32_t>(handles.size()), nullptr, &dataset, &out.error);
  out.dataset.reset(dataset);
  return out;
}

std::vector<std::string> field_names(const Dataset& dataset) {
  int32_t count = 0;
  const dl_view* fields = dl_dataset_fields(dataset.get(), &count);
  std::vector<std::string> names;
  for (int32_t f = 0; f < count; ++f) names.emplace_back(dl_view_at(fields, f)->name);
  return names;
}

TEST(Compose, ZipPutsFieldsSideBySideAndOutlivesItsParts) {
  Dataset a = counting_dataset(5), b = counting_dataset(5);
  Made zipped = compose(dl_dataset_zip, {&a, &b}, {"image", "label"});
  ASSERT_EQ(zipped.status, DL_OK) << zipped.error.message;
  EXPECT_EQ(field_names(zipped.dataset), (std::vector<std::string>{"image", "label"}));
  Made twice = compose(dl_dataset_zip, {&zipped.dataset, &a}, {"both", "x"});
  ASSERT_EQ(twice.status, DL_OK) << twice.error.message;
  EXPECT_EQ(field_names(twice.dataset), (std::vector<std::string>{"both/image", "both/label", "x"}));
  a.reset(), b.reset(), zipped.dataset.reset();
  Delivered got = next(make_loader(twice.dataset, {{"shuffle", "full"}}));
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(row_bytes(got.batch.get(), 0), row_bytes(got.batch.get(), 1))
      << "rows of one sample stay together";
  EXPECT_EQ(row_bytes(got.batch.get(), 0), row_bytes(got.batch.get(), 2));
}

TEST(Compose, ZipRefusesUnequalLengthsAndEqualNames) {
  Dataset a = counting_dataset(5), b = counting_dataset(6);
  Made unequal = compose(dl_dataset_zip, {&a, &b}, {"a", "b"});
  EXPECT_EQ(unequal.status, DL_ERR_MISMATCH);
  EXPECT_TRUE(contains(unequal.error.message, "5") && contains(unequal.error.message, "6"))
      << unequal.error.message;
  Dataset c = counting_dataset(5);
  EXPECT_LT(compose(dl_dataset_zip, {&a, &c}).status, 0) << "two fields would be called data";
  EXPECT_LT(compose(dl_dataset_zip, {&a, &c}, {"same", "same"}).status, 0);
  EXPECT_EQ(compose(dl_dataset_zip, {}).status, DL_ERR_INVALID_ARGUMENT);
}

TEST(Compose, ConcatPutsSamplesOneAfterAnother) {
  Dataset a = counting_dataset(3), none = counting_dataset(0), b = counting_dataset(2);
  Made joined = compose(concat_unnamed, {&a, &none, &b});
  ASSERT_EQ(joined.status, DL_OK) << joined.error.message;
  EXPECT_EQ(dl_dataset_count(joined.dataset.get()), 5);
  a.reset(), b.reset();
  EXPECT_EQ(epoch_samples(make_loader(joined.dataset)), (std::vector<uint64_t>{0, 1, 2, 0, 1}));
}

TEST(Compose, ConcatRefusesOtherFields) {
  const std::vector<int64_t> shape = {2};
  const uint32_t values[] = {1, 2};
  Made other = from_arrays({array_of("data", DL_DTYPE_U32, shape, values)});
  Dataset a = counting_dataset(3);
  Made refused = compose(concat_unnamed, {&a, &other.dataset});
  EXPECT_EQ(refused.status, DL_ERR_MISMATCH);
  EXPECT_TRUE(contains(refused.error.message, "u64") && contains(refused.error.message, "u32"))
      << refused.error.message;
  EXPECT_EQ(compose(concat_unnamed, {}).status, DL_ERR_INVALID_ARGUMENT);
}

TEST(Compose, SubsetDeliversItsSamplesAndMayRepeatThem) {
  Dataset ten = counting_dataset(10);
  const int64_t indices[] = {9, 0, 0, 5};
  dl_dataset* made = nullptr;
  ASSERT_EQ(dl_dataset_subset(ten.get(), indices, 4, nullptr, nullptr, nullptr, &made, nullptr), DL_OK);
  Dataset subset(made);
  ten.reset();
  EXPECT_EQ(epoch_samples(make_loader(subset)), (std::vector<uint64_t>{9, 0, 0, 5}));
  const int64_t inner[] = {3, 0};
  ASSERT_EQ(dl_dataset_subset(subset.get(), inner, 2, nullptr, nullptr, nullptr, &made, nullptr), DL_OK);
  EXPECT_EQ(epoch_samples(make_loader(Dataset(made))), (std::vector<uint64_t>{5, 9}));
  for (int64_t wrong : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    Error error;
    EXPECT_EQ(dl_dataset_subset(subset.get(), &wrong, 1, nullptr, nullptr, nullptr, &made, &error),
              DL_ERR_OUT_OF_RANGE);
    EXPECT_EQ(made, nullptr);
    EXPECT_TRUE(contains(error.message, std::to_string(wrong))) << error.message;
  }
  EXPECT_EQ(dl_dataset_subset(subset.get(), inner, -1, nullptr, nullptr, nullptr, &made, nullptr),
            DL_ERR_INVALID_ARGUMENT);
}

TEST(Compose, AnEmptySubsetHasNoSamples) {
  Dataset ten = counting_dataset(10);
  dl_dataset* made = nullptr;
  ASSERT_EQ(dl_dataset_subset(ten.get(), nullptr, 0, nullptr, nullptr, nullptr, &made, nullptr), DL_OK);
  Dataset empty(made);
  EXPECT_EQ(dl_dataset_count(empty.get()), 0);
  EXPECT_EQ(next(make_loader(empty, {{"epochs", "1"}})).status, DL_END_OF_EPOCH);
}

TEST(Compose, ClassNamesAreThoseOfTheFirstPartThatHasSome) {
  TempDir dir;
  dir.write("pets/owl/1.jpg", "x");
  dir.write("pets/ant/1.jpg", "x");
  dir.write("more/yak/1.jpg", "x");
  dl_dataset *pets = nullptr, *more = nullptr, *made = nullptr;
  ASSERT_EQ(dl_dataset_open(("folder:" + dir.path("pets")).c_str(), nullptr, &pets, nullptr), DL_OK);
  ASSERT_EQ(dl_dataset_open(("folder:" + dir.path("more")).c_str(), nullptr, &more, nullptr), DL_OK);
  Dataset first(pets), second(more), numbers = counting_dataset(2);
  ASSERT_EQ(dl_dataset_class_count(pets), 2);
  EXPECT_STREQ(dl_dataset_class_name(pets, 0), "ant");
  EXPECT_STREQ(dl_dataset_class_name(pets, 1), "owl");
  for (int64_t outside : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    EXPECT_STREQ(dl_dataset_class_name(pets, outside), "");
  }
  EXPECT_EQ(dl_dataset_class_count(numbers.get()), 0);
  EXPECT_STREQ(dl_dataset_class_name(numbers.get(), 0), "");
  dl_dataset* const parts[] = {numbers.get(), pets};
  const char* const names[] = {"number", "pet"};
  ASSERT_EQ(dl_dataset_zip(parts, names, 2, nullptr, &made, nullptr), DL_OK);
  Dataset zipped(made);
  EXPECT_STREQ(dl_dataset_class_name(made, 1), "owl");
  dl_dataset* const other[] = {pets, more};
  Error error;
  EXPECT_EQ(dl_dataset_concat(other, 2, nullptr, &made, &error), DL_ERR_MISMATCH);
  EXPECT_TRUE(contains(error.message, "has 1 classes")) << error.message;
}

// DLPack 1.1, as its header lays it out.
struct Tensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct Unversioned {
  Tensor tensor;
  void* context;
  void (*deleter)(Unversioned*);
};
struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1;

Unversioned* unversioned(const Batch& batch, int32_t field, dl_status expected = DL_OK, Error error = {}) {
  DLManagedTensor* out = nullptr;
  EXPECT_EQ(dl_batch_dlpack(batch.get(), field, &out, &error), expected) << error.message;
  return reinterpret_cast<Unversioned*>(out);
}
Versioned* versioned(const Batch& batch, int32_t field) {
  DLManagedTensorVersioned* out = nullptr;
  Error error;
  EXPECT_EQ(dl_batch_dlpack_versioned(batch.get(), field, &out, &error), DL_OK) << error.message;
  return reinterpret_cast<Versioned*>(out);
}

TEST(Dlpack, EveryDtypeHasItsCodeAndShape) {
  const std::vector<uint8_t> bytes(2 * 3 * 16);
  const std::vector<std::pair<uint8_t, uint8_t>> codes = {{6, 8},  {1, 8},  {1, 16}, {1, 32}, {1, 64},
                                                          {0, 8},  {0, 16}, {0, 32}, {0, 64}, {2, 16},
                                                          {4, 16}, {2, 32}, {2, 64}, {5, 64}, {5, 128}};
  const std::vector<int64_t> shape = {2, 3};
  for (int32_t dtype = 1; dtype <= DL_DTYPE_C128; ++dtype) {
    Made made = from_arrays({array_of("data", dtype, shape, bytes.data())});
    Delivered got = next(make_loader(made.dataset));
    Unversioned* old = unversioned(got.batch, 0);
    Versioned* current = versioned(got.batch, 0);
    got.batch.reset();
    EXPECT_EQ(current->major, 1u);
    EXPECT_EQ(current->flags & kReadOnly, 0u);
    for (const Tensor* tensor : {&old->tensor, &current->tensor}) {
      EXPECT_EQ(std::make_pair(tensor->code, tensor->bits), codes[static_cast<size_t>(dtype) - 1])
          << dl_dtype_name(dtype);
      EXPECT_EQ(tensor->lanes, 1);
      EXPECT_EQ(tensor->device_type, DL_DEVICE_CPU);
      EXPECT_EQ(std::vector<int64_t>(tensor->shape, tensor->shape + tensor->ndim), shape);
      EXPECT_EQ(std::vector<int64_t>(tensor->strides, tensor->strides + tensor->ndim),
                (std::vector<int64_t>{3, 1}));
    }
    EXPECT_EQ(old->tensor.data, current->tensor.data) << "no copy";
    old->deleter(old);
    current->deleter(current);
  }
}

TEST(Dlpack, ReadOnlyViewsAreFlaggedAndRefusedUnversioned) {
  TempDir files;
  std::vector<uint16_t> tokens(33);
  std::iota(tokens.begin(), tokens.end(), uint16_t{0});
  const std::string path = files.write("tokens.bin", bytes_of(tokens));
  Opened opened = open_dataset("tokens:" + path + "?length=8&dtype=u16&views=true");
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  Delivered got = next(make_loader(opened.dataset));
  ASSERT_EQ(got.status, DL_OK) << got.message;
  for (int32_t field : {0, 1}) {
    EXPECT_NE(view_of(got.batch.get(), field).flags & DL_VIEW_READ_ONLY, 0u);
    EXPECT_NE(view_of(got.batch.get(), field).flags & DL_VIEW_OVERLAPPING, 0u);
    EXPECT_EQ(unversioned(got.batch, field, DL_ERR_UNSUPPORTED), nullptr);
    Versioned* tensor = versioned(got.batch, field);
    EXPECT_NE(tensor->flags & kReadOnly, 0u);
    const auto* first = reinterpret_cast<const uint16_t*>(static_cast<const char*>(tensor->tensor.data) +
                                                          tensor->tensor.byte_offset);
    ASSERT_EQ(tensor->tensor.ndim, 2);
    for (int64_t row = 0; row < tensor->tensor.shape[0]; ++row) {
      for (int64_t i = 0; i < 8; ++i) {
        const uint16_t token = first[row * tensor->tensor.strides[0] + i * tensor->tensor.strides[1]];
        EXPECT_EQ(token, tokens[static_cast<size_t>(row * 8 + i + field)]);
      }
    }
    tensor->deleter(tensor);
  }
}

TEST(Dlpack, ARaggedFieldIsItsPackedData) {
  const RaggedData data({2, 0, 3}, 2);
  Made made = from_arrays({data.array()});
  Delivered got = next(make_loader(made.dataset));
  Versioned* tensor = versioned(got.batch, 0);
  EXPECT_EQ(std::vector<int64_t>(tensor->tensor.shape, tensor->tensor.shape + 2),
            (std::vector<int64_t>{5, 2}));
  tensor->deleter(tensor);
}

TEST(Dlpack, FieldsOutsideAreInvalid) {
  Dataset dataset = counting_dataset(3);
  Delivered got = next(make_loader(dataset));
  for (int32_t field : {-1, 1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(unversioned(got.batch, field, DL_ERR_INVALID_ARGUMENT), nullptr);
  }
}

}  // namespace
}  // namespace dataline::tests::compose_test
