// NULL where a pointer is needed is an error, not a crash; a NULL dl_error is fine everywhere. The calls of all functions are
// generated (null_rows.inc); NULLs inside of structs and arrays are listed here.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <regex>
#include <set>

#include "core/base/arrow_c_data.h"
#include "tests/memory/temp_files.h"
#include "tests/support/job.h"
#include "tests/support/places.h"

namespace dataline::tests::null_test {
namespace {

// Objects of every kind, to put beside the NULL.
struct Objects {
  Options options = make_options();
  Dataset dataset = counting_dataset(10);
  Loader loader = make_loader(dataset, {{"batch_size", "5"}});
  Epoch epoch = make_epoch(loader);
  Batch batch = next(loader).batch;
  CancelToken cancel_token;
  std::unique_ptr<dl_opening, Destroy<dl_opening, dl_opening_destroy>> opening;
  std::unique_ptr<dl_extensions, Destroy<dl_extensions, dl_extensions_destroy>> extensions;
  std::unique_ptr<dl_metrics, Destroy<dl_metrics, dl_metrics_destroy>> metrics;
  TempDir dir;
  std::unique_ptr<dl_writer, Destroy<dl_writer, dl_writer_destroy>> writer;
  std::unique_ptr<dl_file, Destroy<dl_file, dl_file_destroy>> file;
  Objects() {
    dl_cancel_token* made = nullptr;
    EXPECT_EQ(dl_cancel_token_create(&made, nullptr), DL_OK);
    cancel_token.reset(made);
    dl_opening* begun = nullptr;
    EXPECT_EQ(dl_dataset_open_async("npy:x", nullptr, &begun, nullptr), DL_OK);
    opening.reset(begun);
    dl_extensions* none = nullptr;
    EXPECT_EQ(dl_extensions_create(&none, nullptr), DL_OK);
    extensions.reset(none);
    dl_metrics* measured = nullptr;
    EXPECT_EQ(dl_loader_metrics(loader.get(), &measured, nullptr), DL_OK);
    metrics.reset(measured);
    dl_writer* begun_set = nullptr;
    const std::string uri = "arrow:" + dir.path("set");
    EXPECT_EQ(dl_writer_create(uri.c_str(), dl_dataset_fields(dataset.get(), nullptr), 1, nullptr, &begun_set,
                               nullptr),
              DL_OK);
    writer.reset(begun_set);
    dl_file* opened = nullptr;
    EXPECT_EQ(dl_file_open(tests::in_repository("capi/dataline.h").c_str(), nullptr, &opened, nullptr),
              DL_OK);
    file.reset(opened);
  }
};

// A call with exactly one NULL (or a table with one), through the error it is given.
struct NullCase {
  const char* function;
  const char* argument;
  dl_status (*call)(Objects&, dl_error*);
};
#define NULL_CASE(function, argument, ...)                                 \
  NullCase{#function, argument, [](Objects& o, dl_error* e) -> dl_status { \
             (void)o;                                                      \
             return function(__VA_ARGS__, e);                              \
           }},

template <typename T>
T sized() {
  T out = {};
  out.struct_size = sizeof out;
  return out;
}

template <typename T>
T* room() {  // for outputs that are never reached
  static T value = {};
  return &value;
}

dl_status arrays_with(const dl_array* arrays, int32_t count, dl_dataset** out, dl_error* error) {
  return dl_dataset_from_arrays(arrays, count, nullptr, nullptr, nullptr, out, error);
}

dl_status array_without(const std::function<void(dl_array&)>& take_away, dl_error* error) {
  const int64_t shape[] = {2};
  const uint8_t data[2] = {};
  dl_array array = sized<dl_array>();
  array.name = "data";
  array.dtype = DL_DTYPE_U8;
  array.rank = 1;
  array.shape = shape;
  array.data = data;
  take_away(array);
  dl_dataset* out = nullptr;
  return arrays_with(&array, 1, &out, error);
}

dl_status reader_without(const std::function<void(dl_reader&, dl_view&)>& take_away, dl_error* error) {
  dl_view field = sized<dl_view>();
  field.name = "data";
  field.dtype = DL_DTYPE_U8;
  dl_reader reader = sized<dl_reader>();
  reader.field_count = 1;
  reader.fields = &field;
  reader.record_count = 2;
  reader.read = [](void*, dl_reader_request*) { return 0; };
  take_away(reader, field);
  dl_dataset* out = nullptr;
  return dl_dataset_from_reader(&reader, nullptr, &out, error);
}

dl_status allocator_without(const std::function<void(dl_allocator&)>& take_away, dl_error* error) {
  dl_allocator table = sized<dl_allocator>();
  table.allocate = [](void*, size_t, size_t, int32_t) -> void* { return nullptr; };
  table.release = [](void*, void*, size_t, size_t, int32_t) {};
  take_away(table);
  return dl_options_set_allocator(make_options().get(), &table, error);
}

dl_status null_part(dl_status (*compose)(dl_dataset* const*, dl_dataset**, dl_error*), Objects& o,
                    dl_error* error) {
  dl_dataset* parts[] = {o.dataset.get(), nullptr};
  dl_dataset* out = nullptr;
  return compose(parts, &out, error);
}

const NullCase kCases[] = {
#include "tests/capi/null_rows.inc"
    {"dl_options_set_allocator", "",
     [](Objects&, dl_error* e) {
       return allocator_without([](dl_allocator& table) { table.allocate = nullptr; }, e);
     }},
    {"dl_options_set_allocator", "",
     [](Objects&, dl_error* e) {
       return allocator_without([](dl_allocator& table) { table.release = nullptr; }, e);
     }},
    {"dl_dataset_from_arrays", "name",
     [](Objects&, dl_error* e) { return array_without([](dl_array& array) { array.name = nullptr; }, e); }},
    {"dl_dataset_from_arrays", "shape",
     [](Objects&, dl_error* e) { return array_without([](dl_array& array) { array.shape = nullptr; }, e); }},
    {"dl_dataset_from_arrays", "data",
     [](Objects&, dl_error* e) { return array_without([](dl_array& array) { array.data = nullptr; }, e); }},
    {"dl_dataset_from_arrays", "offsets",
     [](Objects&, dl_error* e) {
       return array_without([](dl_array& array) { array.kind = DL_KIND_RAGGED, array.sample_count = 1; }, e);
     }},
    {"dl_dataset_from_reader", "fields",
     [](Objects&, dl_error* e) { return reader_without([](auto& r, auto&) { r.fields = nullptr; }, e); }},
    {"dl_dataset_from_reader", "read",
     [](Objects&, dl_error* e) { return reader_without([](auto& r, auto&) { r.read = nullptr; }, e); }},
    {"dl_dataset_from_reader", "name",
     [](Objects&, dl_error* e) { return reader_without([](auto&, auto& f) { f.name = nullptr; }, e); }},
    {"dl_dataset_from_reader", "shape",
     [](Objects&, dl_error* e) { return reader_without([](auto&, auto& f) { f.rank = 1; }, e); }},
    {"dl_dataset_zip", "part 2",
     [](Objects& o, dl_error* e) {
       return null_part(
           [](dl_dataset* const* parts, dl_dataset** out, dl_error* error) {
             return dl_dataset_zip(parts, nullptr, 2, nullptr, out, error);
           },
           o, e);
     }},
    {"dl_dataset_concat", "part 2",
     [](Objects& o, dl_error* e) {
       return null_part([](dl_dataset* const* parts, dl_dataset** out,
                           dl_error* error) { return dl_dataset_concat(parts, 2, nullptr, out, error); },
                        o, e);
     }},
    {"dl_loader_trace_start", "neither",
     [](Objects& o, dl_error* e) { return dl_loader_trace_start(o.loader.get(), nullptr, nullptr, e); }},
};
#undef NULL_CASE

TEST(Null, ArgumentsAreInvalidAndNamedAndNothingElseHappens) {
  Objects objects;
  for (const NullCase& one : kCases) {
    Error error;
    EXPECT_EQ(one.call(objects, &error), DL_ERR_INVALID_ARGUMENT) << one.function << " " << one.argument;
    EXPECT_EQ(error.code, DL_ERR_INVALID_ARGUMENT) << one.function;
    EXPECT_NE(std::string(error.message).find(one.argument), std::string::npos)
        << one.function << ": " << error.message;
    EXPECT_EQ(one.call(objects, nullptr), DL_ERR_INVALID_ARGUMENT) << one.function << " without a dl_error";
  }
  EXPECT_EQ(next(objects.epoch).values, (std::vector<uint64_t>{5, 6, 7, 8, 9})) << "everything stays usable";
}

TEST(Null, EveryFunctionThatCanFailIsTried) {
  std::ifstream file(tests::in_repository("capi/dataline.h"));
  const std::string header(std::istreambuf_iterator<char>(file), {});
  const std::regex declared(R"(DL_MUST_CHECK\s+dl_status\s+(dl_\w+)\()");
  std::set<std::string> tried, missing;
  for (const NullCase& one : kCases) tried.insert(one.function);
  int functions = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), declared), end; at != end; ++at, ++functions)
    if (!tried.contains((*at)[1])) missing.insert((*at)[1]);
  EXPECT_GT(functions, 30);
  EXPECT_EQ(missing, std::set<std::string>());
}

// A function that cannot fail returns nothing, 0, NULL or "" then.
template <typename Function, typename... Arguments>
bool returns_nothing(Function function, Arguments... nothing) {
  using Result = std::invoke_result_t<Function, Arguments...>;
  if constexpr (std::is_void_v<Result>) {
    function(nothing...);
    return true;
  } else if constexpr (std::is_same_v<Result, const char*>) {
    return *function(nothing...) == '\0';
  } else {
    return function(nothing...) == Result();
  }
}

TEST(Null, FunctionsThatCannotFailTakeIt) {
#define NULL_CALL(function, ...) EXPECT_TRUE(returns_nothing(function, __VA_ARGS__)) << #function;
#include "tests/capi/null_rows.inc"
#undef NULL_CALL
  int32_t count = 7;
  EXPECT_EQ(dl_dataset_fields(nullptr, &count), nullptr);
  EXPECT_EQ(count, 0);
}

TEST(Null, CountsAndPositionsMayBeLeftOut) {
  Objects objects;
  EXPECT_NE(dl_dataset_fields(objects.dataset.get(), nullptr), nullptr);
  EXPECT_NE(dl_loader_fields(objects.loader.get(), nullptr), nullptr);
  EXPECT_NE(dl_batch_views(objects.batch.get(), nullptr), nullptr);
  EXPECT_EQ(dl_loader_position(objects.loader.get(), nullptr, nullptr, nullptr), DL_OK);
  int64_t step = -1;
  EXPECT_EQ(dl_loader_position(objects.loader.get(), nullptr, &step, nullptr), DL_OK);
  EXPECT_EQ(step, 1);
}

}  // namespace
}  // namespace dataline::tests::null_test
