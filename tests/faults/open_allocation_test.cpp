// Memory that runs out at every point of opening, composing, describing and resuming, once and for ever: the call says
// so, leaves nothing behind, and works when it is made again.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/files.h"
#include "tests/source/arrow/compressed_files.h"
#include "tests/source/frame_files.h"
#include "tests/support/failing_new.h"

namespace dataline::tests::open_allocation_test {
namespace {

// What a scenario works with; made before memory runs short.
struct Stage {
  TempDir files;
  Dataset numbers = counting_dataset(12), others = counting_dataset(12);
  Loader loader = make_loader(numbers, {{"batch_size", "4"}, {"num_workers", "0"}});
  std::string state = save_state(loader);
  CountingAllocator allocator;
  std::string uri;  // of files that the scenario wrote
};

struct Scenario {
  const char* name;
  std::function<void(Stage&)> prepare;
  // Makes its calls one after another until one fails, and gives all back. Allocates nothing itself.
  std::function<dl_status(Stage&, dl_error*)> run;
};

dl_status open_and_read(Stage& stage, const char* io, dl_error* error) {
  dl_options* options = nullptr;
  dl_dataset* dataset = nullptr;
  dl_loader* loader = nullptr;
  dl_batch* batch = nullptr;
  const dl_allocator table = stage.allocator.table();
  dl_status status = dl_options_create(&options, error);
  if (status == DL_OK) status = dl_options_set(options, "io", io, error);
  if (status == DL_OK) status = dl_options_set(options, "num_workers", "0", error);
  if (status == DL_OK) status = dl_options_set_allocator(options, &table, error);
  if (status == DL_OK) status = dl_dataset_open(stage.uri.c_str(), options, &dataset, error);
  EXPECT_EQ(dataset != nullptr, status == DL_OK);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, error);
  EXPECT_EQ(loader != nullptr, status == DL_OK && dataset != nullptr);
  if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, error);
  EXPECT_EQ(batch != nullptr, status == DL_OK);
  dl_batch_release(batch);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  return status;
}

Scenario reading(const char* name, const char* io, std::function<void(Stage&)> prepare) {
  return {name, std::move(prepare),
          [io](Stage& stage, dl_error* error) { return open_and_read(stage, io, error); }};
}

dl_status compose(Stage& stage, dl_error* error) {
  static const int64_t kIndices[] = {3, 1, 2};
  dl_dataset* parts[] = {stage.numbers.get(), stage.others.get()};
  const char* names[] = {"a", "b"};
  dl_dataset *zip = nullptr, *concat = nullptr, *subset = nullptr;
  dl_status status = dl_dataset_zip(parts, names, 2, nullptr, &zip, error);
  if (status == DL_OK) status = dl_dataset_concat(parts, 2, nullptr, &concat, error);
  if (status == DL_OK)
    status = dl_dataset_subset(concat, kIndices, 3, nullptr, nullptr, nullptr, &subset, error);
  for (dl_dataset* one : {zip, concat, subset}) dl_dataset_destroy(one);
  return status;
}

dl_status resume(Stage& stage, dl_error* error) {
  dl_status status = dl_loader_state_load(stage.loader.get(), stage.state.c_str(), error);
  if (status == DL_OK) status = dl_loader_seek(stage.loader.get(), 0, 1, error);
  if (status == DL_OK) status = dl_loader_begin_epoch(stage.loader.get(), error);
  if (status == DL_OK) status = dl_loader_seek(stage.loader.get(), 0, 0, error);
  return status;
}

dl_status weigh(Stage& stage, dl_error* error) {
  static const double kWeights[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  dl_options* options = nullptr;
  dl_loader* loader = nullptr;
  dl_batch* batch = nullptr;
  dl_status status = dl_options_create(&options, error);
  if (status == DL_OK) status = dl_options_set(options, "num_workers", "0", error);
  if (status == DL_OK) status = dl_options_set(options, "transform", "cast(f32), scale(2)", error);
  if (status == DL_OK) status = dl_options_set_weights(options, kWeights, 12, nullptr, nullptr, error);
  if (status == DL_OK) status = dl_loader_create(stage.numbers.get(), options, &loader, error);
  if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, error);
  dl_batch_release(batch);
  dl_loader_destroy(loader);
  dl_options_destroy(options);
  return status;
}

dl_status refuse(Stage& stage, dl_error* error) {  // errors need memory for their words
  dl_dataset* none = nullptr;
  const dl_status status = dl_dataset_open(stage.uri.c_str(), nullptr, &none, error);
  EXPECT_EQ(none, nullptr);
  return status == DL_ERR_MISMATCH ? DL_OK : status;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      reading("NpyMapped", "mmap",
              [](Stage& s) {
                s.uri = "npy:" + s.files.write("a.npy", npy_file("<u2", "(4, 2)", "abcdefghijklmnop"));
              }),
      reading("NpyFortranByPread", "pread",
              [](Stage& s) {
                std::string file = npy_file("<u2", "(4, 2)", "abcdefghijklmnop");
                file.replace(file.find("False,"), 6, "True, ");
                s.uri = "npy:" + s.files.write("a.npy", file);
              }),
      reading("IdxInMemory", "memory",
              [](Stage& s) {
                s.uri = "idx:" + s.files.write("a", idx_file({3, 2}, "abcdef"));
              }),
      reading("RawOfFields", "pread",
              [](Stage& s) {
                s.uri =
                    "raw:" + s.files.write("a.bin", std::string(30, 'x')) + "?fields=label:u8,image:u8[3x3]";
              }),
      reading("Tokens", "mmap",
              [](Stage& s) {
                s.uri = "tokens:" + s.files.write("a.bin", std::string(200, 'x')) + "?length=8&dtype=u16";
              }),
      reading("ArrowCompressed", "auto",
              [](Stage& s) {
                TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2, 3, 4})}});
                if (std::string(dl_build_info()).find("libzstd") != std::string::npos) {
                  table.messages[0] =
                      arrow_compressed(table.messages[0], 1, [](size_t, const std::string& buffer) {
                        return stored_bytes(static_cast<int64_t>(buffer.size())) + zstd_stored(buffer);
                      });
                }
                s.uri = "arrow:" + s.files.write("a.arrow", table.file());
              }),
      reading("ADirectoryOfShards", "auto",
              [](Stage& s) {
                for (const char* name : {"d/1.npy", "d/2.npy", "d/10.npy"})
                  s.files.write(name, npy_file("|u1", "(4,)", "abcd"));
                s.uri = s.files.path("d");
              }),
      reading("ZippedNames", "auto",
              [](Stage& s) {
                s.uri = "npy:x=" + s.files.write("x.npy", npy_file("|u1", "(4,)", "abcd")) +
                        ",y=" + s.files.write("y.npy", npy_file("|u1", "(4,)", "efgh"));
              }),
      reading("Cifar10", "auto",
              [](Stage& s) {
                for (int batch = 1; batch <= 5; ++batch)
                  s.files.write("c/data_batch_" + std::to_string(batch) + ".bin", std::string(3073, '\3'));
                s.uri = "cifar10:" + s.files.path("c");
              }),
      reading("Mnist", "auto",
              [](Stage& s) {
                const std::string three("\0\0\0\3", 4), side("\0\0\0\x1c", 4);
                s.files.write("m/train-images-idx3-ubyte",
                              std::string("\0\0\x8\x3", 4) + three + side + side + std::string(3 * 784, 'i'));
                s.files.write("m/train-labels-idx1-ubyte", std::string("\0\0\x8\x1", 4) + three + "\1\2\3");
                s.uri = "mnist:" + s.files.path("m");
              }),
      {"Composed", [](Stage&) {}, compose},
      {"Resumed", [](Stage&) {}, resume},
      {"WeightedAndTransformed", [](Stage&) {}, weigh},
      {"RefusedForItsOwnReasons",
       [](Stage& s) {
         s.uri = "npy:" + s.files.write("x.npy", npy_file("|u1", "(4,)", "abcd")) + "," +
                 s.files.write("y.npy", npy_file("<u2", "(2,)", "efgh"));
       },
       refuse},
  };
  return all;
}

class OpenAllocation : public ::testing::TestWithParam<size_t> {};

TEST_P(OpenAllocation, EveryAllocationMayFailOnceOrForEverAndNothingLeaks) {
  const Scenario& scenario = scenarios()[GetParam()];
  Stage stage;
  scenario.prepare(stage);
  dl_error error = DL_ERROR_INIT;
  ASSERT_EQ(scenario.run(stage, &error), DL_OK) << error.message;
  arm(-1, false);
  ASSERT_EQ(scenario.run(stage, &error), DL_OK) << error.message;
  disarm();
  const int64_t total = allocations.load();
  ASSERT_GT(total, 0);
  for (bool for_ever : {false, true}) {
    for (int64_t fail_at = 0; fail_at < total; ++fail_at) {
      const int64_t live = live_blocks.load();
      arm(fail_at, for_ever);
      const dl_status status = scenario.run(stage, &error);
      disarm();
      ASSERT_TRUE(status == DL_OK || status == DL_ERR_NO_MEMORY || status == DL_ERR_BAD_SAMPLE)
          << dl_status_name(status) << ": " << error.message << " at " << fail_at << " of " << total;
      ASSERT_FALSE(for_ever && status == DL_OK) << "at " << fail_at << " of " << total;
      ASSERT_EQ(stage.allocator.blocks.load(), 0) << "at " << fail_at << " of " << total;
      ASSERT_EQ(live_blocks.load(), live) << "at " << fail_at << " of " << total;
    }
  }
  EXPECT_EQ(scenario.run(stage, &error), DL_OK) << error.message;
  RecordProperty("allocations", static_cast<int>(total));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, OpenAllocation, ::testing::Range<size_t>(0, scenarios().size()),
                         [](const auto& one) { return std::string(scenarios()[one.param].name); });

}  // namespace
}  // namespace dataline::tests::open_allocation_test
