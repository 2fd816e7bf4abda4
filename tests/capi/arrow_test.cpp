// Batches as arrays of Arrow's C data interface: formats, memory, and who holds what for how long.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/arrow_c_data.h"
#include "tests/capi/host_data.h"

namespace dataline::tests::arrow_test {
namespace {

// A schema and an array, released at the end unless they were moved out.
struct Exported {
  dl_status status = DL_OK;
  Error error;
  ArrowSchema schema = {};
  ArrowArray array = {};

  explicit Exported(dl_batch* batch) { status = dl_batch_arrow(batch, &schema, &array, &error); }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  ~Exported() {
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
  }
};

// "large_list" of "+w:2" of "S" is "+L(+w:2(S))".
std::string format_of(const ArrowSchema& schema) {
  std::string out = schema.format;
  for (int64_t c = 0; c < schema.n_children; ++c)
    out += (c == 0 ? "(" : ",") + format_of(*schema.children[c]) + (c + 1 == schema.n_children ? ")" : "");
  return out;
}

dl_array array_named(const char* name, int32_t dtype, const std::vector<int64_t>& shape, const void* data) {
  dl_array out = {};
  out.struct_size = sizeof out;
  out.name = name;
  out.kind = DL_KIND_DENSE;
  out.dtype = dtype;
  out.rank = static_cast<int32_t>(shape.size());
  out.shape = shape.data();
  out.data = data;
  return out;
}

// Five samples: an image of 2x3 floats, a number, four flags, words of pairs, and a text.
struct Samples {
  std::vector<float> images = std::vector<float>(30);
  std::vector<int16_t> numbers = {7, -7, 8, -8, 9};
  std::vector<uint8_t> flags = {1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0};
  RaggedData words = RaggedData({2, 0, 1, 3, 1}, 2);
  std::string texts = "onethree33";
  std::vector<int64_t> text_offsets = {0, 3, 3, 8, 10, 10};
  std::vector<int64_t> image_shape = {5, 2, 3}, number_shape = {5}, flag_shape = {5, 4}, text_shape = {10};

  Samples() { std::iota(images.begin(), images.end(), 0.5f); }
  Made made(Loan* loan = nullptr) const {
    return from_arrays({array_named("image", DL_DTYPE_F32, image_shape, images.data()),
                        array_named("number", DL_DTYPE_I16, number_shape, numbers.data()),
                        array_named("flags", DL_DTYPE_BOOL, flag_shape, flags.data()), words.array(),
                        ragged_array_of("text", DL_DTYPE_U8, text_shape, texts.data(), text_offsets)},
                       loan);
  }
};

TEST(Arrow, AFieldIsItsTypeInsideAListForEachDimAfterTheFirst) {
  const Samples samples;
  const Made made = samples.made();
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  const Delivered got = next(make_loader(made.dataset, {{"batch_size", "5"}}));
  const Exported rows(got.batch.get());
  ASSERT_EQ(rows.status, DL_OK) << rows.error.message;
  EXPECT_EQ(format_of(rows.schema), "+s(+w:2(+w:3(f)),s,+w:4(b),+L(+w:2(S)),Z)");
  const char* const names[] = {"image", "number", "flags", "words", "text"};
  ASSERT_EQ(rows.array.n_children, 5);
  for (int64_t f = 0; f < 5; ++f) {
    EXPECT_STREQ(rows.schema.children[f]->name, names[f]);
    EXPECT_EQ(rows.array.children[f]->length, 5);
    EXPECT_EQ(rows.array.children[f]->null_count, 0);
    EXPECT_EQ(rows.array.children[f]->buffers[0], nullptr) << "no bitmap of nulls";
  }
  EXPECT_EQ(rows.array.length, 5);
  EXPECT_EQ(rows.array.children[0]->children[0]->length, 10);
  EXPECT_EQ(rows.array.children[0]->children[0]->children[0]->length, 30);
  EXPECT_EQ(rows.array.children[3]->children[0]->length, 7) << "items of all rows";
}

TEST(Arrow, ValuesAndOffsetsAreThoseOfTheBatchAndBoolsAreBits) {
  const Samples samples;
  const Made made = samples.made();
  const Delivered got = next(make_loader(made.dataset, {{"batch_size", "5"}, {"shuffle", "none"}}));
  const Exported rows(got.batch.get());
  ASSERT_EQ(rows.status, DL_OK) << rows.error.message;
  const dl_batch* batch = got.batch.get();
  EXPECT_EQ(rows.array.children[0]->children[0]->children[0]->buffers[1], view_of(batch, 0).data);
  EXPECT_EQ(rows.array.children[1]->buffers[1], view_of(batch, 1).data);
  EXPECT_EQ(rows.array.children[3]->buffers[1], view_of(batch, 3).offsets);
  EXPECT_EQ(rows.array.children[3]->children[0]->children[0]->buffers[1], view_of(batch, 3).data);
  EXPECT_EQ(rows.array.children[4]->buffers[1], view_of(batch, 4).offsets);
  EXPECT_EQ(rows.array.children[4]->buffers[2], view_of(batch, 4).data);
  const auto* bits = static_cast<const uint8_t*>(rows.array.children[2]->children[0]->buffers[1]);
  for (size_t i = 0; i < samples.flags.size(); ++i)
    EXPECT_EQ(bits[i / 8] >> (i % 8) & 1, samples.flags[i]) << "flag " << i;
}

TEST(Arrow, PadsAreNoRows) {
  const Samples samples;
  const Made made = samples.made();
  const Loader loader = make_loader(made.dataset, {{"batch_size", "4"}, {"last_batch", "pad"}});
  ASSERT_EQ(next(loader).status, DL_OK);
  const Delivered last = next(loader);
  ASSERT_EQ(last.valid, 1);
  const Exported rows(last.batch.get());
  ASSERT_EQ(rows.status, DL_OK) << rows.error.message;
  EXPECT_EQ(rows.array.length, 1);
  EXPECT_EQ(rows.array.children[0]->children[0]->children[0]->length, 6);
  EXPECT_EQ(rows.array.children[3]->children[0]->length, view_of(last.batch.get(), 3).offsets[1]);
}

TEST(Arrow, AChildThatWasMovedOutHoldsTheBatchUntilItIsReleased) {
  const Samples samples;
  Loan loan;
  Made made = samples.made(&loan);
  Loader loader = make_loader(made.dataset, {{"batch_size", "5"}, {"shuffle", "none"}, {"num_workers", "0"}});
  Delivered got = next(loader);
  ArrowArray number = {};
  {
    Exported rows(got.batch.get());
    ASSERT_EQ(rows.status, DL_OK) << rows.error.message;
    number = *rows.array.children[1];
    rows.array.children[1]->release = nullptr;  // moved, as the interface says
  }
  got.batch.reset(), loader.reset(), made.dataset.reset();
  const auto* values = static_cast<const int16_t*>(number.buffers[1]);
  EXPECT_EQ(std::vector<int16_t>(values, values + 5), samples.numbers);
  number.release(&number);
  EXPECT_EQ(number.release, nullptr) << "a released struct says so";
  EXPECT_EQ(loan.released.load(), 1);
}

TEST(Arrow, AnArrayIsALeaseAsTheBatchIs) {
  const Samples samples;
  const Made made = samples.made();
  const Loader loader = make_loader(made.dataset, {{"batch_size", "5"}});
  const auto held = [&] {
    dl_stats stats = {};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(dl_loader_stats(loader.get(), &stats, nullptr), DL_OK);
    return stats.leases_held;
  };
  Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  Exported rows(got.batch.get());
  got.batch.reset();
  EXPECT_EQ(held(), 1);
  rows.schema.release(&rows.schema);
  EXPECT_EQ(held(), 1) << "a type holds nothing";
  rows.array.release(&rows.array);
  EXPECT_EQ(held(), 0);
}

TEST(Arrow, RowsThatDoNotLieOneAfterAnotherAreCopied) {
  // Windows of tokens: x and y are the same memory, one item apart.
  const TempDir folder;
  const std::string path = folder.write("t.bin", bytes_of(std::vector<uint16_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  const Opened opened = open_dataset("tokens:" + path + "?length=4&views=true");
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  const Delivered got = next(make_loader(opened.dataset, {{"batch_size", "2"}, {"shuffle", "none"}}));
  const Exported rows(got.batch.get());
  ASSERT_EQ(rows.status, DL_OK) << rows.error.message;
  ASSERT_EQ(format_of(rows.schema), "+s(+w:4(S),+w:4(S))");
  const auto items = [&](int64_t field) {
    const auto* values = static_cast<const uint16_t*>(rows.array.children[field]->children[0]->buffers[1]);
    return std::vector<uint16_t>(values, values + 8);
  };
  EXPECT_EQ(items(0), (std::vector<uint16_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(items(1), (std::vector<uint16_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Arrow, ADtypeThatArrowDoesNotHaveIsNamedAndNothingIsWritten) {
  const Dataset numbers = counting_dataset(3);
  const Delivered got = next(make_loader(numbers, {{"transform", "cast(bf16)"}}));
  ASSERT_EQ(got.status, DL_OK) << got.message;
  Exported rows(got.batch.get());
  EXPECT_EQ(rows.status, DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(rows.error.message).find("bf16"), std::string::npos) << rows.error.message;
  EXPECT_NE(std::string(rows.error.message).find("cast(f32)"), std::string::npos) << rows.error.message;
  EXPECT_EQ(rows.schema.release, nullptr);
  EXPECT_EQ(rows.array.release, nullptr);
}

}  // namespace
}  // namespace dataline::tests::arrow_test
