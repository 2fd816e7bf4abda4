// The rows of rows_u8_47mb and their labels as an Arrow table in memory, by dl_dataset_from_arrow, beside the bare gather of the
// same rows from the same memory.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "bench/end_to_end/text_files.h"
#include "bench/end_to_end/u8_rows.h"
#include "core/base/arrow_c_data.h"

namespace bench {

namespace {

// struct<image: fixed_size_list<uint8>[784], label: int64>, in one array. Lives as long as the variants that use it.
struct Table {
  explicit Table(const Rows& rows, int64_t count)
      : images(count * kRowBytes), labels(static_cast<size_t>(count)) {
    std::memcpy(images.data(), rows.base, static_cast<size_t>(count * kRowBytes));
    for (int64_t i = 0; i < count; ++i) labels[static_cast<size_t>(i)] = i % kLabels;
    describe(schemas[0], "+s", "", &schema_children[0], 2);
    describe(schemas[1], "+w:784", "image", &schema_children[2], 1);
    describe(schemas[2], "l", "label", nullptr, 0);
    describe(schemas[3], "C", "item", nullptr, 0);
    describe(arrays[0], count, buffers[0], 1, &array_children[0], 2);
    describe(arrays[1], count, buffers[0], 1, &array_children[2], 1);
    describe(arrays[2], count, buffers[2], 2, nullptr, 0);
    describe(arrays[3], count * kRowBytes, buffers[1], 2, nullptr, 0);
    buffers[1][1] = images.data();
    buffers[2][1] = labels.data();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Gives the array once.
  ArrowArrayStream stream() {
    given = false;
    ArrowArrayStream out = {};
    out.private_data = this;
    out.get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
      *schema = of(self).schemas[0];
      return 0;
    };
    out.get_next = [](ArrowArrayStream* self, ArrowArray* array) {
      *array = std::exchange(of(self).given, true) ? ArrowArray{} : of(self).arrays[0];
      return 0;
    };
    out.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    out.release = [](ArrowArrayStream* self) { self->release = nullptr; };
    return out;
  }

  HugeBuffer images;  // as NumPy has large arrays, which pyarrow takes as they lie

 private:
  static Table& of(ArrowArrayStream* stream) { return *static_cast<Table*>(stream->private_data); }

  static void describe(ArrowSchema& out, const char* format, const char* name, ArrowSchema** children,
                       int64_t count) {
    out.format = format;
    out.name = name;
    out.children = children;
    out.n_children = count;
    out.release = [](ArrowSchema* self) { self->release = nullptr; };
  }
  static void describe(ArrowArray& out, int64_t length, const void** held, int64_t buffers,
                       ArrowArray** children, int64_t count) {
    out.length = length;
    out.buffers = held;
    out.n_buffers = buffers;
    out.children = children;
    out.n_children = count;
    out.release = [](ArrowArray* self) { self->release = nullptr; };
  }

  std::vector<int64_t> labels;
  bool given = false;
  ArrowSchema schemas[4] = {};
  ArrowArray arrays[4] = {};
  ArrowSchema* schema_children[3] = {&schemas[1], &schemas[2], &schemas[3]};
  ArrowArray* array_children[3] = {&arrays[1], &arrays[2], &arrays[3]};
  const void* buffers[3][2] = {};  // no bits of what is valid: nothing is null
};

}  // namespace

std::vector<Variant> arrow_memory(const Settings& settings) {
  const int64_t count = settings.small ? 6'000 : 60'000;
  const Rows rows = open_rows(settings, count);
  const auto table = std::make_shared<Table>(rows, count);
  const DatasetMaker made = [&](const dl_options* options, dl_dataset** out, dl_error* error) {
    ArrowArrayStream stream = table->stream();
    return dl_dataset_from_arrow(&stream, "fields=image,label", options, out, error);
  };
  std::vector<Variant> variants;
  GatherWork work;
  for (const int workers : {0, 1, 2}) {
    const std::shared_ptr<Job> job(new Job(made, {{"batch_size", std::to_string(kRowBatchSize)},
                                                  {"shuffle", "full"},
                                                  {"num_workers", std::to_string(workers)}}),
                                   [table](Job* held) { delete held; });  // the table outlives it
    work = gather_work(rows, job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
      int64_t label = 0;
      std::memcpy(&label, row_data(views[1], row), sizeof label);
      return std::memcmp(row_data(views[0], row), rows.base + sample * kRowBytes, kRowBytes) == 0 &&
             label == sample % kLabels;
    }));
    variants.push_back(job_variant(workers, job));
  }
  work.base = table->images.data();
  for (const int threads : {1, 2}) variants.push_back(bare_variant(work, threads, "", table));
  return variants;
}

}  // namespace bench
