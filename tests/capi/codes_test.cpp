// Every public error code, provoked once through the C ABI. In one table, so that none is forgotten; hence its length.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include "tests/conformance/files.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/file_faults.h"
#include "tests/support/places.h"

namespace dataline::tests::codes_test {
namespace {

std::map<std::string, dl_status> codes_in_header() {
  std::ifstream file(tests::in_repository("capi/dataline.h"));
  std::map<std::string, dl_status> codes;
  const std::regex define(R"(^#define (DL_ERR_\w+) +\((-\d+)\).*)");
  for (std::string line; std::getline(file, line);) {
    for (std::string rest; line.ends_with('\\') && std::getline(file, rest);) {
      line.pop_back();
      line += rest;
    }
    std::smatch found;
    if (std::regex_match(line, found, define)) codes[found[1]] = std::stoi(found[2]);
  }
  return codes;
}

class Provoke {
 public:
  // The status of an open, with a file of these bytes.
  dl_status file(const std::string& scheme, const std::string& bytes) {
    return open(scheme + files.write("file", bytes));
  }
  dl_status open(const std::string& uri, const Settings& settings = {}) {
    Opened opened = open_dataset(uri, settings);
    static_cast<dl_error&>(error) = opened.error;
    return opened.status;
  }
  dl_status create(const Settings& settings) {
    dl_loader* loader = nullptr;
    dl_status status = dl_loader_create(ten.get(), make_options(settings).get(), &loader, &error);
    EXPECT_EQ(loader, nullptr);
    return status;
  }
  dl_status option(const char* key, const char* value) {
    return dl_options_set(make_options().get(), key, value, &error);
  }
  dl_status next_of(const Loader& loader) {
    dl_batch* batch = nullptr;
    return dl_loader_next(loader.get(), -1, &batch, &error);
  }
  // The code under which a bad sample is listed.
  dl_status bad_sample_of(const Loader& loader) {
    EXPECT_EQ(next_of(loader), DL_ERR_BAD_SAMPLE);
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    EXPECT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, &error), DL_OK) << error.message;
    error.code = bad.code;
    return bad.code;
  }
  // What `body` returns in a child, where limits and rights may be lowered.
  dl_status child(const std::function<dl_status()>& body) {
    const int exit_code = in_child([&] { return -body(); });
    error.code = -exit_code;
    snprintf(error.message, sizeof error.message, "ended with %d", exit_code);
    return -exit_code;
  }

  Error error;
  TempDir files;
  Dataset ten = counting_dataset(10);
};

dl_status held_leases(Provoke& p) {
  Loader loader = make_loader(p.ten, {{"batch_size", "1"}, {"max_leases", "1"}, {"lease_overflow", "error"}});
  Delivered held = next(loader);
  return p.next_of(loader);
}

dl_status no_memory(Provoke& p) {
  dl_allocator none = {};
  none.struct_size = sizeof none;
  none.allocate = [](void*, size_t, size_t, int32_t) -> void* { return nullptr; };
  none.release = [](void*, void*, size_t, size_t, int32_t) {};
  Options options = make_options();
  EXPECT_EQ(dl_options_set_allocator(options.get(), &none, &p.error), DL_OK);
  dl_loader* loader = nullptr;
  return dl_loader_create(p.ten.get(), options.get(), &loader, &p.error);
}

// A table that breaks its promise not to throw: the barrier at the ABI holds all the same.
dl_status defect(Provoke& p) {
  dl_allocator throwing = {};
  throwing.struct_size = sizeof throwing;
  throwing.allocate = [](void*, size_t, size_t, int32_t) -> void* { throw std::runtime_error("thrown"); };
  throwing.release = [](void*, void*, size_t, size_t, int32_t) {};
  Options options = make_options();
  EXPECT_EQ(dl_options_set_allocator(options.get(), &throwing, &p.error), DL_OK);
  dl_loader* loader = nullptr;
  return dl_loader_create(p.ten.get(), options.get(), &loader, &p.error);
}

dl_status failing_disk(Provoke& p) {
  const std::string path = p.files.write("disk.npy", npy_file("|u1", "(2,)", "ab"));
  NoMoreFileFaults at_the_end;
  file_faults.pread_errno = [](int64_t) { return EIO; };
  return p.open(path);
}

// A file that is empty whenever its pages are wanted, and whole again whenever somebody looks why they did not come.
dl_status ever_changing_file(Provoke& p) {
  const std::string whole = npy_file("|u1", "(8, 1000)", pattern_bytes(8000));
  const std::string path = p.files.write("changing.npy", whole);
  Opened opened = open_dataset("npy:" + path, {{"io", "mmap"}});
  EXPECT_EQ(opened.status, DL_OK) << opened.error.message;
  Loader loader = make_loader(opened.dataset, {{"num_workers", "0"}});
  NoMoreFileFaults at_the_end;
  file_faults.nothing_is_resident = true;
  file_faults.before_populate = [&] { std::filesystem::resize_file(path, 0); };
  file_faults.after_populate = [&] { p.files.write("changing.npy", whole); };
  return p.bad_sample_of(loader);
}

dl_status set_indices_without_any(Provoke& p) {
  Loader loader = make_loader(p.ten);
  const int64_t index = 0;
  return dl_loader_set_indices(loader.get(), &index, 1, nullptr, nullptr, &p.error);
}

dl_status zip_of(Provoke& p, int64_t other_count) {
  Dataset other = counting_dataset(other_count);
  dl_dataset* parts[] = {p.ten.get(), other.get()};
  const char* names[] = {"a", "b"};
  dl_dataset* out = nullptr;
  dl_status status = dl_dataset_zip(parts, names, 2, nullptr, &out, &p.error);
  dl_dataset_destroy(out);
  return status;
}

dl_status bad_reader(Provoke& p, const Settings& settings, bool listed) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 3; };
  Dataset dataset = reader.dataset(10);
  Loader loader = make_loader(dataset, settings);
  return listed ? p.bad_sample_of(loader) : p.next_of(loader);
}

dl_status too_large(Provoke& p) {
  const uint8_t data[10] = {};
  Dataset dataset = array_dataset(ragged_array_of("data", DL_DTYPE_U8, {10}, data, {0, 10}));
  return p.bad_sample_of(make_loader(dataset, {{"max_bytes_per_sample", "4"}}));
}

dl_status without_permission(Provoke& p) {
  const std::string path = p.files.write("mine.npy", npy_file("|u1", "(2,)", "ab"));
  std::filesystem::permissions(p.files.path("."), std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  return p.child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return DL_ERR_INTERNAL;
    return p.open(path);
  });
}

dl_status without_threads(Provoke& p) {
  return p.child([&] {
    const rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) return DL_ERR_INTERNAL;
    return p.create({{"num_workers", "1"}});
  });
}

dl_status without_handles(Provoke& p) {
  const std::string path = p.files.write("one.npy", npy_file("|u1", "(2,)", "ab"));
  return p.child([&] {
    const rlimit none = {0, 0};
    return setrlimit(RLIMIT_NOFILE, &none) != 0 ? DL_ERR_INTERNAL : p.open(path);
  });
}

dl_status in_the_child(Provoke& p) {
  Loader loader = make_loader(p.ten, {{"num_workers", "0"}});
  return p.child([&] { return p.next_of(loader); });
}

dl_status state(Provoke& p, const std::string& text) {
  Loader loader = make_loader(p.ten);
  return dl_loader_state_load(loader.get(), text.c_str(), &p.error);
}

// A copy that fails in the device's stream.
dl_status lost_device(Provoke& p) {
  fake_cuda_reset();
  fake_cuda_fail_operation(0, 700);
  Loader loader = make_loader(
      p.ten, {{"device", "cuda:0"}, {"cuda_library", FAKE_CUDA_LIBRARY}, {"device_sync", "host"}});
  return p.next_of(loader);
}

struct Case {
  const char* name;
  dl_status code;
  dl_status (*provoke)(Provoke&);
};
#define CASE(code, expression)                                       \
  Case {                                                             \
#code, code, [](Provoke & p) -> dl_status { return expression; } \
  }

const Case kCases[] = {
    CASE(DL_ERR_INVALID_ARGUMENT, dl_options_create(nullptr, &p.error)),
    CASE(DL_ERR_UNKNOWN_OPTION, p.option("batchsize", "1")),
    CASE(DL_ERR_BAD_OPTION, p.option("batch_size", "many")),
    CASE(DL_ERR_BAD_URI, p.open("npy:a.npy?trailing=error&trailing=error")),
    CASE(DL_ERR_BAD_TRANSFORM, p.create({{"transform", "cast(u8"}})),
    CASE(DL_ERR_NO_SUCH_FIELD, p.create({{"transform", "nothing: cast(f32)"}})),
    CASE(DL_ERR_UNSUPPORTED, p.open(p.files.write("a.zip", "PK\x03\x04, and so on"))),
    CASE(DL_ERR_WRONG_STATE, set_indices_without_any(p)),
    CASE(DL_ERR_FORKED, in_the_child(p)),
    CASE(DL_ERR_NO_MEMORY, no_memory(p)),
    CASE(DL_ERR_OVER_BUDGET, p.create({{"memory_budget", "1"}})),
    CASE(DL_ERR_LEASES_HELD, held_leases(p)),
    CASE(DL_ERR_THREAD, without_threads(p)),
    CASE(DL_ERR_TOO_MANY_FILES, without_handles(p)),
    CASE(DL_ERR_NOT_FOUND, p.open(p.files.path("absent.npy"))),
    CASE(DL_ERR_PERMISSION, without_permission(p)),
    CASE(DL_ERR_NOT_A_FILE, p.open("npy:/dev/null")),
    CASE(DL_ERR_IO, failing_disk(p)),
    CASE(DL_ERR_TRUNCATED, p.file("npy:", npy_file("<f4", "(100,)", "short"))),
    CASE(DL_ERR_CORRUPT, p.file("npy:", std::string(200, 'x'))),
    CASE(DL_ERR_UNSAFE_TYPE, p.file("npy:", npy_file("|O", "(1,)", "12345678"))),
    CASE(DL_ERR_MISMATCH, zip_of(p, 9)),
    CASE(DL_ERR_CHANGED, ever_changing_file(p)),
    CASE(DL_ERR_BAD_SAMPLE, bad_reader(p, {}, false)),
    CASE(DL_ERR_TOO_MANY_BAD, bad_reader(p, {{"max_bad", "0"}}, false)),
    CASE(DL_ERR_OUT_OF_RANGE, p.create({{"start_step", "1000"}})),
    CASE(DL_ERR_READER, bad_reader(p, {}, true)),
    CASE(DL_ERR_TOO_LARGE, too_large(p)),
    CASE(DL_ERR_EMPTY, p.create({{"batch_size", "11"}, {"last_batch", "drop"}})),
    CASE(DL_ERR_BAD_STATE, state(p, "not a state")),
    CASE(DL_ERR_STATE_REFUSED, state(p, save_state(make_loader(p.ten, {{"seed", "7"}})))),
    CASE(DL_ERR_NO_DEVICE, p.create({{"device", "cuda"}, {"cuda_library", p.files.path("libcuda.so.1")}})),
    CASE(DL_ERR_DEVICE_LOST, lost_device(p)),
    CASE(DL_ERR_INTERNAL, defect(p)),
};
#undef CASE

TEST(ErrorCodes, EachIsProvoked) {
  std::map<std::string, dl_status> left = codes_in_header();
  ASSERT_GT(left.size(), 30u) << "in capi/dataline.h";
  for (const Case& one : kCases) {
    ASSERT_TRUE(left.contains(one.name)) << one.name;
    EXPECT_EQ(left[one.name], one.code);
    left.erase(one.name);
  }
  std::set<std::string> names;
  for (const auto& [name, code] : left) names.insert(name);
  EXPECT_EQ(names, std::set<std::string>());
}

TEST(ErrorCodes, NamesAreThoseOfTheHeader) {
  for (const auto& [name, code] : codes_in_header()) EXPECT_EQ(dl_status_name(code), name);
  EXPECT_STREQ(dl_status_name(DL_OK), "DL_OK");
  EXPECT_STREQ(dl_status_name(DL_END_OF_EPOCH), "DL_END_OF_EPOCH");
  EXPECT_STREQ(dl_status_name(DL_END), "DL_END");
  EXPECT_STREQ(dl_status_name(DL_TIMEOUT), "DL_TIMEOUT");
  EXPECT_STREQ(dl_status_name(DL_CANCELLED), "DL_CANCELLED");
  EXPECT_STREQ(dl_status_name(DL_INTERRUPTED), "DL_INTERRUPTED");
  for (dl_status unknown : {6, 1000, -10, -1000, INT32_MIN, INT32_MAX})
    EXPECT_NE(dl_status_name(unknown), nullptr);
}

class ErrorCode : public ::testing::TestWithParam<Case> {};

TEST_P(ErrorCode, IsReturnedAndWrittenWithOneLineOfText) {
#if defined(__SANITIZE_THREAD__)
  if (GetParam().code == DL_ERR_THREAD)
    GTEST_SKIP() << "ThreadSanitizer ends a forked child that starts a thread";
#endif
  Provoke provoke;
  EXPECT_EQ(GetParam().provoke(provoke), GetParam().code)
      << dl_status_name(provoke.error.code) << ": " << provoke.error.message;
  EXPECT_EQ(provoke.error.code, GetParam().code);
  const std::string message = provoke.error.message;
  if (GetParam().code != DL_ERR_READER && GetParam().code != DL_ERR_TOO_LARGE) {
    EXPECT_FALSE(message.empty());
  }
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(All, ErrorCode, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace dataline::tests::codes_test
