// A caller's dl_error of every size: what lies wholly within it is written, whatever the failure and also when memory
// is gone; the rest is not touched.
//
// operator new is replaced for this program (the library is linked statically, so it is the library's too).
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/conformance/files.h"

namespace {
thread_local bool out_of_memory = false;
}

void* operator new(size_t bytes) {
  void* memory = out_of_memory ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace dataline::tests::error_size_test {
namespace {

constexpr unsigned char kUntouched = 0xA5;

struct Member {
  const char* name;
  size_t begin, bytes;
};
#define MEMBER(name) \
  { #name, offsetof(dl_error, name), sizeof(dl_error::name) }
constexpr Member kMembers[] = {MEMBER(code), MEMBER(os_error), MEMBER(column), MEMBER(sample_index),
                               MEMBER(sample_source)};
#undef MEMBER

// One call that fails, the same way each time.
struct Failure {
  const char* name;
  dl_status code;
  std::function<dl_status(dl_error* error)> provoke;
};

std::vector<Failure> failures() {
  auto open = [](const char* uri) {
    return [uri](dl_error* error) {
      dl_dataset* dataset = nullptr;
      return dl_dataset_open(uri, nullptr, &dataset, error);
    };
  };
  auto bad_sample = [](dl_error* error) {
    TestReader reader;
    reader.fails = [](int64_t index) { return index == 3; };
    Dataset dataset = reader.dataset(10);
    Loader loader = make_loader(dataset, {{"num_workers", "0"}});
    dl_batch* batch = nullptr;
    return dl_loader_next(loader.get(), -1, &batch, error);
  };
  auto memory_gone = [](dl_error* error) {
    dl_options* options = nullptr;
    out_of_memory = true;
    dl_status status = dl_options_create(&options, error);
    out_of_memory = false;
    return status;
  };
  return {{"OsError", DL_ERR_NOT_FOUND, open("npy:/nowhere/at/all.npy")},
          {"Column", DL_ERR_BAD_URI, open("npy:a.npy?trailing=perhaps")},
          {"SampleIndex", DL_ERR_BAD_SAMPLE, bad_sample},
          {"NoMemory", DL_ERR_NO_MEMORY, memory_gone}};
}

class ErrorSize : public ::testing::TestWithParam<Failure> {};

TEST_P(ErrorSize, EveryMemberThatFitsIsWrittenAndNothingElseIsTouched) {
  dl_error whole = DL_ERROR_INIT;
  ASSERT_EQ(GetParam().provoke(&whole), GetParam().code) << whole.message;
  ASSERT_EQ(whole.code, GetParam().code);
  const std::string text = whole.message;
  ASSERT_FALSE(text.empty());
  for (uint32_t size = 0; size <= sizeof(dl_error) + 32; ++size) {
    alignas(dl_error) unsigned char block[sizeof(dl_error) + 64];
    std::memset(block, kUntouched, sizeof block);
    std::memcpy(block, &size, sizeof size);
    ASSERT_EQ(GetParam().provoke(reinterpret_cast<dl_error*>(block)), GetParam().code) << size;
    EXPECT_EQ(std::memcmp(block, &size, sizeof size), 0) << "struct_size stays the caller's, " << size;
    size_t end = sizeof size;  // of what was written
    for (const Member& member : kMembers) {
      if (member.begin + member.bytes > size) continue;
      end = member.begin + member.bytes;
      EXPECT_EQ(
          std::memcmp(block + member.begin, reinterpret_cast<char*>(&whole) + member.begin, member.bytes), 0)
          << member.name << " at size " << size;
    }
    if (size > offsetof(dl_error, message)) {
      const size_t room = std::min<size_t>(size, sizeof(dl_error)) - offsetof(dl_error, message);
      const char* message = reinterpret_cast<const char*>(block) + offsetof(dl_error, message);
      ASSERT_LT(strnlen(message, room), room) << "no NUL at size " << size;
      EXPECT_EQ(std::string(message), text.substr(0, room - 1)) << size;
      end = offsetof(dl_error, message) + strlen(message) + 1;
    }
    for (size_t at = end; at < sizeof block; ++at)
      ASSERT_EQ(block[at], kUntouched) << "byte " << at << " at size " << size;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ErrorSize, ::testing::ValuesIn(failures()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ErrorSize, TheFailuresAboveFillEachMember) {
  std::map<std::string, dl_error> got;
  for (const Failure& failure : failures()) {
    dl_error error = DL_ERROR_INIT;
    ASSERT_EQ(failure.provoke(&error), failure.code);
    got[failure.name] = error;
  }
  EXPECT_EQ(got["OsError"].os_error, ENOENT);
  EXPECT_GT(got["Column"].column, 0);
  EXPECT_EQ(got["SampleIndex"].sample_index, 3);
  EXPECT_STREQ(got["NoMemory"].message, "out of memory");
  EXPECT_EQ(got["NoMemory"].sample_index, -1);
}

}  // namespace
}  // namespace dataline::tests::error_size_test
