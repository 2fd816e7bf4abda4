// Structs of hosts that were built with an older or a newer header: what is missing counts as zero, what this library
// does not know must be zero, and arrays are stepped through by the host's size.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests::host_struct_test {
namespace {

// As a later release would have it: the struct of today, and more.
template <typename T>
struct Grown : T {
  uint64_t added[3] = {};
  Grown() : T{} { this->struct_size = sizeof *this; }
};

struct Calls {
  int allocated = 0, released = 0, destroyed = 0;
  std::vector<std::string> messages;
};
Calls& calls_of(void* context) { return *static_cast<Calls*>(context); }

template <typename Table = dl_allocator>
Table allocator_for(Calls& calls) {
  Table table = {};
  table.struct_size = sizeof table;
  table.context = &calls;
  table.allocate = [](void* context, size_t bytes, size_t alignment, int32_t) -> void* {
    ++calls_of(context).allocated;
    void* memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
    if (memory != nullptr) std::memset(memory, 0, bytes);
    return memory;
  };
  table.release = [](void* context, void* memory, size_t, size_t alignment, int32_t) {
    ++calls_of(context).released;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << "the alignment that was asked for";
    ::operator delete (memory, std::align_val_t{alignment}, std::nothrow);
  };
  table.destroy = [](void* context) { ++calls_of(context).destroyed; };
  return table;
}

template <typename Table = dl_log>
Table log_for(Calls& calls) {
  Table table = {};
  table.struct_size = sizeof table;
  table.context = &calls;
  table.write = [](void* context, int32_t, const char* message, size_t length) {
    calls_of(context).messages.emplace_back(message, length);
  };
  table.destroy = [](void* context) { ++calls_of(context).destroyed; };
  return table;
}

TEST(HostStruct, TheTableOfAHostWithALongerHeaderIsTaken) {
  Calls calls;
  Error error;
  {
    Options options = make_options();
    auto allocator = allocator_for<Grown<dl_allocator>>(calls);
    allocator.struct_size = sizeof allocator;
    EXPECT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_OK) << error.message;
    auto log = log_for<Grown<dl_log>>(calls);
    log.struct_size = sizeof log;
    EXPECT_EQ(dl_options_set_log(options.get(), &log, &error), DL_OK) << error.message;
  }
  EXPECT_EQ(calls.destroyed, 2);
}

TEST(HostStruct, SomethingThatOnlyANewerLibraryHasIsRefusedWithItsPlace) {
  Calls calls;
  Options options = make_options();
  auto log = log_for<Grown<dl_log>>(calls);
  log.struct_size = sizeof log;
  log.added[1] = 1;
  Error error;
  EXPECT_EQ(dl_options_set_log(options.get(), &log, &error), DL_ERR_UNSUPPORTED);
  const std::string place =
      "dl_log: byte " + std::to_string(sizeof(dl_log) + 8) + " of " + std::to_string(sizeof log);
  EXPECT_NE(std::string(error.message).find(place), std::string::npos) << error.message;
  EXPECT_EQ(calls.destroyed, 0) << "a call that fails takes nothing";
}

TEST(HostStruct, ReservedMembersThatAreNotZeroAreRefused) {
  Calls calls;
  Options options = make_options();
  Error error;
  dl_log log = log_for(calls);
  log.reserved = 7;
  EXPECT_EQ(dl_options_set_log(options.get(), &log, &error), DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("dl_log: reserved"), std::string::npos) << error.message;
  dl_allocator allocator = allocator_for(calls);
  allocator.reserved = 1;
  EXPECT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("dl_allocator: reserved"), std::string::npos) << error.message;
}

TEST(HostStruct, SizesBelowTheFirstReleaseOrBeyondAnyReleaseAreRefused) {
  Calls calls;
  Options options = make_options();
  Error error;
  alignas(dl_log) unsigned char block[8192] = {};
  auto* log = reinterpret_cast<dl_log*>(block);
  *log = log_for(calls);
  for (uint32_t size = 0; size <= 5000; ++size) {
    log->struct_size = size;
    const bool fits = size >= sizeof(dl_log) && size <= DL_STRUCT_MAX_BYTES;
    ASSERT_EQ(dl_options_set_log(options.get(), log, &error), fits ? DL_OK : DL_ERR_INVALID_ARGUMENT) << size;
  }
  log->struct_size = 0xA5A5A5A5;
  EXPECT_EQ(dl_options_set_log(options.get(), log, &error), DL_ERR_INVALID_ARGUMENT) << "read no further";
}

std::vector<uint64_t> numbers(int64_t first, int64_t count) {
  std::vector<uint64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<uint64_t>(first + i));
  return out;
}

template <typename Array>
Array array_of(const char* name, const std::vector<uint64_t>& values, const int64_t* shape) {
  Array array;
  std::memset(static_cast<void*>(&array), 0, sizeof array);
  array.struct_size = sizeof array;
  array.name = name;
  array.dtype = DL_DTYPE_U64;
  array.rank = 1;
  array.shape = shape;
  array.data = values.data();
  return array;
}

TEST(HostStruct, AnArrayOfLongerArraysIsSteppedThroughByTheirSize) {
  const std::vector<uint64_t> a = numbers(0, 6), b = numbers(100, 6), c = numbers(200, 6);
  const int64_t shape[1] = {6};
  const Grown<dl_array> arrays[3] = {array_of<Grown<dl_array>>("a", a, shape),
                                     array_of<Grown<dl_array>>("b", b, shape),
                                     array_of<Grown<dl_array>>("c", c, shape)};
  dl_dataset* made = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_from_arrays(arrays, 3, nullptr, nullptr, nullptr, &made, &error), DL_OK)
      << error.message;
  Dataset dataset(made);
  Loader loader = make_loader(dataset, {{"batch_size", "6"}});
  Delivered got = next(loader);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  ASSERT_EQ(count, 3);
  EXPECT_STREQ(dl_view_at(views, 2)->name, "c");
  EXPECT_EQ(std::memcmp(dl_view_at(views, 2)->data, c.data(), 48), 0);
}

TEST(HostStruct, AnElementOfAnotherSizeThanTheFirstIsRefused) {
  const std::vector<uint64_t> a = numbers(0, 6);
  const int64_t shape[1] = {6};
  Grown<dl_array> arrays[2] = {array_of<Grown<dl_array>>("a", a, shape),
                               array_of<Grown<dl_array>>("b", a, shape)};
  arrays[1].struct_size = sizeof(dl_array);
  dl_dataset* made = nullptr;
  Error error;
  EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &made, &error),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("dl_array 1: struct_size is"), std::string::npos)
      << error.message;
}

TEST(HostStruct, AReaderAndItsFieldsMayBeLonger) {
  Grown<dl_view> fields[2];
  fields[0].name = "id";
  fields[0].dtype = fields[1].dtype = DL_DTYPE_I64;
  fields[1].name = "square";
  Grown<dl_reader> reader;
  reader.field_count = 2;
  reader.fields = fields;
  reader.record_count = 20;
  reader.read = [](void*, dl_reader_request* request) {
    for (int32_t r = 0; r < request->record_count; ++r) {
      const int64_t index = request->indices[r], square = index * index;
      std::memcpy(dl_reader_cell_at(request, r, 0)->data, &index, 8);
      std::memcpy(dl_reader_cell_at(request, r, 1)->data, &square, 8);
    }
    return 0;
  };
  dl_dataset* made = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_from_reader(&reader, nullptr, &made, &error), DL_OK) << error.message;
  Dataset dataset(made);
  Loader loader = make_loader(dataset, {{"batch_size", "20"}});
  Delivered got = next(loader);
  const auto* squares =
      static_cast<const int64_t*>(dl_view_at(dl_batch_views(got.batch.get(), nullptr), 1)->data);
  EXPECT_EQ(squares[19], 361);

  reader.reserved = 1;
  EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &made, &error), DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("dl_reader: reserved"), std::string::npos) << error.message;
  reader.reserved = 0;
  fields[1].reserved[2] = 5;
  EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &made, &error), DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("dl_view: reserved"), std::string::npos) << error.message;
}

TEST(HostTable, IsGivenBackOnceWhenNothingNeedsItAnyMore) {
  Calls memory, log;
  Batch held;
  {
    Options options = make_options({{"batch_size", "4"}});
    const dl_allocator allocator = allocator_for(memory);
    const dl_log table = log_for(log);
    Error error;
    ASSERT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_OK);
    ASSERT_EQ(dl_options_set_log(options.get(), &table, &error), DL_OK);
    Dataset dataset = counting_dataset(10);
    dl_loader* made = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), DL_OK) << error.message;
    Loader loader(made);
    options.reset();
    EXPECT_EQ(memory.destroyed + log.destroyed, 0) << "the loader needs them";
    held = std::move(next(loader).batch);
    loader.reset();
    EXPECT_EQ(memory.destroyed, 0) << "the batch lies in memory of the host's";
  }
  held.reset();
  EXPECT_EQ(memory.destroyed, 1);
  EXPECT_EQ(log.destroyed, 1);
  EXPECT_EQ(memory.allocated, memory.released);
}

TEST(HostTable, IsGivenBackWhenAnotherTakesItsPlace) {
  Calls first, second;
  Options options = make_options();
  const dl_log one = log_for(first), two = log_for(second);
  ASSERT_EQ(dl_options_set_log(options.get(), &one, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_log(options.get(), &two, nullptr), DL_OK);
  EXPECT_EQ(first.destroyed, 1);
  EXPECT_EQ(second.destroyed, 0);
}

TEST(HostTable, ASubsetTakesTheCopyOfItsIndicesFromTheAllocator) {
  Calls memory;
  Dataset dataset = counting_dataset(100);
  Options options = make_options();
  const dl_allocator allocator = allocator_for(memory);
  Error error;
  ASSERT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_OK);
  const std::vector<int64_t> indices(50, 7);
  dl_dataset* made = nullptr;
  ASSERT_EQ(
      dl_dataset_subset(dataset.get(), indices.data(), 50, nullptr, nullptr, options.get(), &made, &error),
      DL_OK)
      << error.message;
  EXPECT_EQ(memory.allocated, 1);
  dl_dataset_destroy(made);
  EXPECT_EQ(memory.released, 1);
}

}  // namespace
}  // namespace dataline::tests::host_struct_test
