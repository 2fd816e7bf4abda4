// NULL where a pointer is needed is an error, not a crash; a NULL dl_error is fine everywhere. One list of all functions, hence
// its length.
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
  CancelToken token;
  std::unique_ptr<dl_opening, Destroy<dl_opening, dl_opening_destroy>> opening;
  std::unique_ptr<dl_extensions, Destroy<dl_extensions, dl_extensions_destroy>> extensions;
  std::unique_ptr<dl_metrics, Destroy<dl_metrics, dl_metrics_destroy>> metrics;
  TempDir dir;
  std::unique_ptr<dl_writer, Destroy<dl_writer, dl_writer_destroy>> writer;
  int64_t one = 1;
  double weight = 1;
  Objects() {
    dl_cancel_token* made = nullptr;
    EXPECT_EQ(dl_cancel_token_create(&made, nullptr), DL_OK);
    token.reset(made);
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
  }
};

// A call with exactly one NULL (or a table with one), through the error it is given.
struct NullCase {
  const char* function;
  const char* argument;
  dl_status (*call)(Objects&, dl_error*);
};
#define NULL_CASE(function, argument, ...)                                                                  \
  NullCase {                                                                                                \
#function, argument, [](Objects& o, dl_error* e) -> dl_status { (void)o; return function(__VA_ARGS__, e); } \
  }

template <typename T>
T sized() {
  T out = {};
  out.struct_size = sizeof out;
  return out;
}

constexpr const char* kNoVariables[] = {nullptr};

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
    NULL_CASE(dl_options_create, "out", nullptr),
    NULL_CASE(dl_options_copy, "options", nullptr, room<dl_options*>()),
    NULL_CASE(dl_options_copy, "out", o.options.get(), nullptr),
    NULL_CASE(dl_options_set, "options", nullptr, "seed", "1"),
    NULL_CASE(dl_options_set, "key", o.options.get(), nullptr, "1"),
    NULL_CASE(dl_options_set, "value", o.options.get(), "seed", nullptr),
    NULL_CASE(dl_options_set_i64, "options", nullptr, "seed", 1),
    NULL_CASE(dl_options_set_i64, "key", o.options.get(), nullptr, 1),
    NULL_CASE(dl_options_set_indices, "options", nullptr, &o.one, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_indices, "indices", o.options.get(), nullptr, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_weights, "options", nullptr, &o.weight, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_weights, "weights", o.options.get(), nullptr, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_lengths, "options", nullptr, &o.one, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_lengths, "lengths", o.options.get(), nullptr, 1, nullptr, nullptr),
    NULL_CASE(dl_options_set_allocator, "options", nullptr, room<dl_allocator>()),
    NULL_CASE(dl_options_set_allocator, "allocator", o.options.get(), nullptr),
    {"dl_options_set_allocator", "",
     [](Objects&, dl_error* e) {
       return allocator_without([](dl_allocator& table) { table.allocate = nullptr; }, e);
     }},
    {"dl_options_set_allocator", "",
     [](Objects&, dl_error* e) {
       return allocator_without([](dl_allocator& table) { table.release = nullptr; }, e);
     }},
    NULL_CASE(dl_options_set_log, "options", nullptr, room<dl_log>()),
    NULL_CASE(dl_options_set_log, "log", o.options.get(), nullptr),
    NULL_CASE(dl_options_set_cancel_token, "options", nullptr, o.token.get()),
    NULL_CASE(dl_options_set_cancel_token, "token", o.options.get(), nullptr),
    NULL_CASE(dl_options_set_environment, "options", nullptr, kNoVariables),
    NULL_CASE(dl_options_set_environment, "environment", o.options.get(), nullptr),
    NULL_CASE(dl_launcher_detect, "environment", nullptr, room<dl_launcher>()),
    NULL_CASE(dl_launcher_detect, "out", kNoVariables, nullptr),
    NULL_CASE(dl_options_get, "options", nullptr, "seed", room<const char*>()),
    NULL_CASE(dl_options_get, "key", o.options.get(), nullptr, room<const char*>()),
    NULL_CASE(dl_options_get, "out", o.options.get(), "seed", nullptr),
    NULL_CASE(dl_option_at, "out", 0, nullptr),
    NULL_CASE(dl_transform_at, "out", nullptr, 0, nullptr),
    NULL_CASE(dl_transform_argument_at, "out", nullptr, 0, 0, nullptr),
    NULL_CASE(dl_cancel_token_create, "out", nullptr),
    NULL_CASE(dl_dataset_open, "uri", nullptr, o.options.get(), room<dl_dataset*>()),
    NULL_CASE(dl_dataset_open, "out", "npy:x", o.options.get(), nullptr),
    NULL_CASE(dl_dataset_from_arrays, "arrays", nullptr, 1, nullptr, nullptr, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_from_arrays, "out", room<dl_array>(), 1, nullptr, nullptr, nullptr, nullptr),
    NULL_CASE(dl_dataset_from_arrow, "stream", nullptr, nullptr, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_from_arrow, "out", room<ArrowArrayStream>(), nullptr, nullptr, nullptr),
    NULL_CASE(dl_dataset_from_arrow_array, "schema", nullptr, room<ArrowArray>(), nullptr, nullptr,
              room<dl_dataset*>()),
    NULL_CASE(dl_dataset_from_arrow_array, "array", room<ArrowSchema>(), nullptr, nullptr, nullptr,
              room<dl_dataset*>()),
    NULL_CASE(dl_dataset_from_arrow_array, "out", room<ArrowSchema>(), room<ArrowArray>(), nullptr, nullptr,
              nullptr),
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
    NULL_CASE(dl_dataset_from_reader, "reader", nullptr, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_from_reader, "out", room<dl_reader>(), nullptr, nullptr),
    {"dl_dataset_from_reader", "fields",
     [](Objects&, dl_error* e) { return reader_without([](auto& r, auto&) { r.fields = nullptr; }, e); }},
    {"dl_dataset_from_reader", "read",
     [](Objects&, dl_error* e) { return reader_without([](auto& r, auto&) { r.read = nullptr; }, e); }},
    {"dl_dataset_from_reader", "name",
     [](Objects&, dl_error* e) { return reader_without([](auto&, auto& f) { f.name = nullptr; }, e); }},
    {"dl_dataset_from_reader", "shape",
     [](Objects&, dl_error* e) { return reader_without([](auto&, auto& f) { f.rank = 1; }, e); }},
    NULL_CASE(dl_dataset_zip, "parts", nullptr, nullptr, 1, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_zip, "out", room<dl_dataset*>(), nullptr, 1, nullptr, nullptr),
    {"dl_dataset_zip", "part 2",
     [](Objects& o, dl_error* e) {
       return null_part(
           [](dl_dataset* const* parts, dl_dataset** out, dl_error* error) {
             return dl_dataset_zip(parts, nullptr, 2, nullptr, out, error);
           },
           o, e);
     }},
    NULL_CASE(dl_dataset_concat, "parts", nullptr, 1, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_concat, "out", room<dl_dataset*>(), 1, nullptr, nullptr),
    {"dl_dataset_concat", "part 2",
     [](Objects& o, dl_error* e) {
       return null_part([](dl_dataset* const* parts, dl_dataset** out,
                           dl_error* error) { return dl_dataset_concat(parts, 2, nullptr, out, error); },
                        o, e);
     }},
    NULL_CASE(dl_dataset_subset, "dataset", nullptr, &o.one, 1, nullptr, nullptr, nullptr,
              room<dl_dataset*>()),
    NULL_CASE(dl_dataset_subset, "indices", o.dataset.get(), nullptr, 1, nullptr, nullptr, nullptr,
              room<dl_dataset*>()),
    NULL_CASE(dl_dataset_subset, "out", o.dataset.get(), &o.one, 1, nullptr, nullptr, nullptr, nullptr),
    NULL_CASE(dl_dataset_read, "dataset", nullptr, 0, o.options.get(), room<dl_batch*>()),
    NULL_CASE(dl_dataset_read, "out", o.dataset.get(), 0, o.options.get(), nullptr),
    NULL_CASE(dl_dataset_open_async, "uri", nullptr, o.options.get(), room<dl_opening*>()),
    NULL_CASE(dl_dataset_open_async, "out", "npy:x", o.options.get(), nullptr),
    NULL_CASE(dl_opening_wait, "opening", nullptr, 0, room<dl_dataset*>()),
    NULL_CASE(dl_opening_wait, "out", o.opening.get(), 0, nullptr),
    NULL_CASE(dl_opening_wait_handle, "opening", nullptr, room<intptr_t>()),
    NULL_CASE(dl_opening_wait_handle, "out", o.opening.get(), nullptr),
    NULL_CASE(dl_opening_progress, "opening", nullptr, room<dl_progress>()),
    NULL_CASE(dl_opening_progress, "out", o.opening.get(), nullptr),
    NULL_CASE(dl_extensions_create, "out", nullptr),
    NULL_CASE(dl_options_set_extensions, "options", nullptr, o.extensions.get()),
    NULL_CASE(dl_extensions_add_format, "extensions", nullptr, room<dl_format>()),
    NULL_CASE(dl_extensions_add_format, "format", o.extensions.get(), nullptr),
    NULL_CASE(dl_extensions_add_operator, "extensions", nullptr, room<dl_operator>()),
    NULL_CASE(dl_extensions_add_operator, "table", o.extensions.get(), nullptr),
    NULL_CASE(dl_extensions_add_storage, "extensions", nullptr, room<dl_storage>()),
    NULL_CASE(dl_extensions_add_storage, "storage", o.extensions.get(), nullptr),
    NULL_CASE(dl_extensions_set_threads, "extensions", nullptr, room<dl_threads>()),
    NULL_CASE(dl_extensions_set_threads, "threads", o.extensions.get(), nullptr),
    NULL_CASE(dl_extensions_load, "extensions", nullptr, "name"),
    NULL_CASE(dl_extensions_load, "path", o.extensions.get(), nullptr),
    NULL_CASE(dl_file_open, "path", nullptr, nullptr, room<dl_file*>()),
    NULL_CASE(dl_file_open, "out", "x", nullptr, nullptr),
    NULL_CASE(dl_file_read, "file", nullptr, 0, 1, &o.one, nullptr),
    NULL_CASE(dl_format_at, "out", nullptr, 0, nullptr),
    NULL_CASE(dl_format_key_at, "out", nullptr, 0, 0, nullptr),
    NULL_CASE(dl_storage_at, "out", o.extensions.get(), 0, nullptr),
    NULL_CASE(dl_dataset_identity, "dataset", nullptr, nullptr, room<size_t>()),
    NULL_CASE(dl_dataset_identity, "bytes", o.dataset.get(), nullptr, nullptr),
    NULL_CASE(dl_dataset_image_info, "dataset", nullptr, nullptr, 0, room<dl_image_info>()),
    NULL_CASE(dl_dataset_image_info, "out", o.dataset.get(), nullptr, 0, nullptr),
    NULL_CASE(dl_loader_create, "dataset", nullptr, o.options.get(), room<dl_loader*>()),
    NULL_CASE(dl_loader_create, "out", o.dataset.get(), o.options.get(), nullptr),
    NULL_CASE(dl_loader_next, "loader", nullptr, 0, room<dl_batch*>()),
    NULL_CASE(dl_loader_next, "out", o.loader.get(), 0, nullptr),
    NULL_CASE(dl_loader_work, "loader", nullptr, 1),
    NULL_CASE(dl_loader_epoch, "loader", nullptr, room<dl_epoch*>()),
    NULL_CASE(dl_loader_epoch, "out", o.loader.get(), nullptr),
    NULL_CASE(dl_loader_stream, "loader", nullptr, room<dl_epoch*>()),
    NULL_CASE(dl_epoch_next, "epoch", nullptr, 0, room<dl_batch*>()),
    NULL_CASE(dl_epoch_next, "out", o.epoch.get(), 0, nullptr),
    NULL_CASE(dl_loader_begin_epoch, "loader", nullptr),
    NULL_CASE(dl_loader_position, "loader", nullptr, &o.one, &o.one),
    NULL_CASE(dl_loader_seek, "loader", nullptr, 0, 0),
    NULL_CASE(dl_loader_set_indices, "loader", nullptr, &o.one, 1, nullptr, nullptr),
    NULL_CASE(dl_loader_set_indices, "indices", o.loader.get(), nullptr, 1, nullptr, nullptr),
    NULL_CASE(dl_loader_state_save, "loader", nullptr, room<char>(), room<size_t>()),
    NULL_CASE(dl_loader_state_save, "bytes", o.loader.get(), room<char>(), nullptr),
    NULL_CASE(dl_loader_state_load, "loader", nullptr, "text"),
    NULL_CASE(dl_loader_state_load, "text", o.loader.get(), nullptr),
    NULL_CASE(dl_loader_wait_handle, "loader", nullptr, room<intptr_t>()),
    NULL_CASE(dl_loader_wait_handle, "out", o.loader.get(), nullptr),
    NULL_CASE(dl_loader_pixel_scale, "loader", nullptr, 0, 0, room<double>(), room<double>()),
    NULL_CASE(dl_loader_pixel_scale, "scale", o.loader.get(), 0, 0, nullptr, room<double>()),
    NULL_CASE(dl_loader_pixel_scale, "offset", o.loader.get(), 0, 0, room<double>(), nullptr),
    NULL_CASE(dl_loader_plan_at, "loader", nullptr, 0, room<dl_plan_stage>()),
    NULL_CASE(dl_loader_plan_at, "out", o.loader.get(), 0, nullptr),
    NULL_CASE(dl_dataset_mix, "parts", nullptr, 1, nullptr, 0, -1, nullptr, room<dl_dataset*>()),
    NULL_CASE(dl_dataset_mix, "out", room<dl_mix_part>(), 1, nullptr, 0, -1, nullptr, nullptr),
    NULL_CASE(dl_dataset_part_at, "dataset", nullptr, 0, room<dl_part>()),
    NULL_CASE(dl_dataset_part_at, "out", o.dataset.get(), 0, nullptr),
    NULL_CASE(dl_loader_part_at, "loader", nullptr, 0, room<dl_part>()),
    NULL_CASE(dl_loader_part_at, "out", o.loader.get(), 0, nullptr),
    NULL_CASE(dl_loader_metrics, "loader", nullptr, room<dl_metrics*>()),
    NULL_CASE(dl_loader_metrics, "out", o.loader.get(), nullptr),
    NULL_CASE(dl_metrics_at, "metrics", nullptr, 0, room<dl_metric>()),
    NULL_CASE(dl_metrics_at, "out", o.metrics.get(), 0, nullptr),
    NULL_CASE(dl_metrics_text, "metrics", nullptr, nullptr, nullptr, room<size_t>()),
    NULL_CASE(dl_metrics_text, "bytes", o.metrics.get(), nullptr, nullptr, nullptr),
    NULL_CASE(dl_metrics_stall_at, "metrics", nullptr, 0, room<dl_stall>()),
    NULL_CASE(dl_metrics_stall_at, "out", o.metrics.get(), 0, nullptr),
    NULL_CASE(dl_loader_trace_start, "loader", nullptr, "x", nullptr),
    NULL_CASE(dl_loader_trace_start, "neither", o.loader.get(), nullptr, nullptr),
    NULL_CASE(dl_loader_trace_stop, "loader", nullptr),
    NULL_CASE(dl_writer_create, "uri", nullptr, room<dl_view>(), 1, nullptr, room<dl_writer*>()),
    NULL_CASE(dl_writer_create, "fields", "arrow:x", nullptr, 1, nullptr, room<dl_writer*>()),
    NULL_CASE(dl_writer_create, "out", "arrow:x", room<dl_view>(), 1, nullptr, nullptr),
    NULL_CASE(dl_writer_append, "writer", nullptr, room<dl_array>(), 1, nullptr),
    NULL_CASE(dl_writer_append, "arrays", o.writer.get(), nullptr, 1, nullptr),
    NULL_CASE(dl_writer_finish, "writer", nullptr),
    NULL_CASE(dl_writer_get_info, "writer", nullptr, room<dl_writer_info>()),
    NULL_CASE(dl_writer_get_info, "out", o.writer.get(), nullptr),
    NULL_CASE(dl_loader_set_workers, "loader", nullptr, 1),
    NULL_CASE(dl_loader_tuned, "loader", nullptr, room<dl_tuned>()),
    NULL_CASE(dl_loader_tuned, "out", o.loader.get(), nullptr),
    NULL_CASE(dl_loader_stats, "loader", nullptr, room<dl_stats>()),
    NULL_CASE(dl_loader_stats, "out", o.loader.get(), nullptr),
    NULL_CASE(dl_loader_bad_sample_at, "loader", nullptr, 0, room<dl_bad_sample>()),
    NULL_CASE(dl_loader_bad_sample_at, "out", o.loader.get(), 0, nullptr),
    NULL_CASE(dl_batch_get_info, "batch", nullptr, room<dl_batch_info>()),
    NULL_CASE(dl_batch_get_info, "out", o.batch.get(), nullptr),
    NULL_CASE(dl_batch_wait, "batch", nullptr, nullptr),
    NULL_CASE(dl_batch_release_on, "batch", nullptr, nullptr),
    NULL_CASE(dl_batch_dlpack, "batch", nullptr, 0, room<DLManagedTensor*>()),
    NULL_CASE(dl_batch_dlpack, "out", o.batch.get(), 0, nullptr),
    NULL_CASE(dl_batch_dlpack_versioned, "batch", nullptr, 0, room<DLManagedTensorVersioned*>()),
    NULL_CASE(dl_batch_dlpack_versioned, "out", o.batch.get(), 0, nullptr),
    NULL_CASE(dl_batch_arrow, "batch", nullptr, room<ArrowSchema>(), room<ArrowArray>()),
    NULL_CASE(dl_batch_arrow, "schema", o.batch.get(), nullptr, room<ArrowArray>()),
    NULL_CASE(dl_batch_arrow, "array", o.batch.get(), room<ArrowSchema>(), nullptr),
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

TEST(Null, FunctionsThatCannotFailTakeIt) {
  dl_options_destroy(nullptr);
  dl_cancel_token_destroy(nullptr);
  dl_cancel_token_cancel(nullptr);
  dl_dataset_destroy(nullptr);
  dl_opening_cancel(nullptr);
  dl_opening_destroy(nullptr);
  dl_loader_destroy(nullptr);
  dl_loader_cancel(nullptr);
  dl_loader_interrupt(nullptr);
  dl_epoch_interrupt(nullptr);
  dl_epoch_release(nullptr);
  dl_batch_retain(nullptr);
  dl_batch_release(nullptr);
  dl_writer_destroy(nullptr);
  dl_error_init(nullptr, sizeof(dl_error));
  int32_t count = 7;
  EXPECT_EQ(dl_dataset_fields(nullptr, &count), nullptr);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(dl_loader_fields(nullptr, nullptr), nullptr);
  EXPECT_EQ(dl_batch_views(nullptr, nullptr), nullptr);
  EXPECT_EQ(dl_dataset_count(nullptr), 0);
  EXPECT_STREQ(dl_dataset_format(nullptr), "");
  EXPECT_STREQ(dl_dataset_uri(nullptr), "");
  EXPECT_EQ(dl_dataset_note_count(nullptr), 0);
  EXPECT_STREQ(dl_dataset_note(nullptr, 0), "");
  EXPECT_EQ(dl_dataset_class_count(nullptr), 0);
  EXPECT_STREQ(dl_dataset_class_name(nullptr, 0), "");
  EXPECT_EQ(dl_loader_steps(nullptr), 0);
  EXPECT_EQ(dl_loader_bad_sample_count(nullptr), 0);
  EXPECT_EQ(dl_loader_plan_count(nullptr), 0);
  EXPECT_EQ(dl_dataset_part_count(nullptr), 0);
  EXPECT_EQ(dl_loader_part_count(nullptr), 0);
  EXPECT_EQ(dl_dtype_from_name(nullptr), 0);
  EXPECT_STREQ(dl_writer_position(nullptr), "");
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
