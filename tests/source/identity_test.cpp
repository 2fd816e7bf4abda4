// Which data is the same data (core/source/identity.h), for files, folders, parts, memory, readers and objects of a storage.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/identity.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/source/composed/composed.h"
#include "core/source/host/host.h"
#include "core/source/open.h"
#include "tests/source/source_support.h"

namespace dataline::identity_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class IdentityTest : public ::testing::Test {
 protected:
  static SourceRef open(const std::string& uri, const OpenContext& context = test_context()) {
    Result<SourceRef> source = open_source(uri, context);
    EXPECT_TRUE(source.is_ok()) << source.status().message();
    return source.is_ok() ? source.take() : nullptr;
  }
  static std::string local(const Source& source) {
    Result<std::string> text = local_identity(source);
    EXPECT_TRUE(text.is_ok()) << text.status().message();
    return text.is_ok() ? text.take() : "";
  }
  static ContentIdentity content(const Source& source) {
    Result<ContentIdentity> identity = content_identity(source);
    EXPECT_TRUE(identity.is_ok()) << identity.status().message();
    return identity.is_ok() ? identity.take() : ContentIdentity{};
  }
  std::string raw(const std::string& name, const std::string& bytes) const {
    return "raw:" + dir_.write(name, bytes) + "?dtype=u8&shape=4";
  }

  TempDir dir_;
};

// Objects of one storage, all with the same bytes.
class OneStorage final : public HostStorage {
 public:
  std::string fingerprint;

  std::string_view scheme() const override { return "one"; }
  std::string_view doc() const override { return "objects of eight bytes"; }
  Result<std::unique_ptr<const StoredObject>> open(const std::string&, const OpenContext&) const override {
    return std::unique_ptr<const StoredObject>(std::make_unique<Object>(fingerprint));
  }

 private:
  struct Object final : StoredObject {
    explicit Object(std::string text) : text_(std::move(text)) {}
    int64_t bytes() const override { return 8; }
    const std::string& fingerprint() const override { return text_; }
    Status read(int64_t, int64_t bytes, std::byte* out, const CancelFlag*) const override {
      std::memset(out, 'x', static_cast<size_t>(bytes));
      return Status::ok();
    }
    std::string text_;
  };
};

TEST_F(IdentityTest, ALocalOneHasALineAFileAndNoPath) {
  const std::string text = local(*open(raw("set/a.bin", "12345678")));
  EXPECT_THAT(text,
              MatchesRegex("structure: [0-9a-f]{16}\nfile 0: a.bin, 8 bytes, modified [0-9]+\\.[0-9]{9}, "
                           "changed [0-9]+\\.[0-9]{9}, inode [0-9]+, path [0-9a-f]{16}\n"));
  EXPECT_THAT(text, Not(HasSubstr("set/")));
}

TEST_F(IdentityTest, ALocalOneChangesWithEachFactOfAFile) {
  const std::string uri = raw("a.bin", "12345678");
  const std::string first = local(*open(uri));
  EXPECT_EQ(local(*open(uri)), first);
  fs::create_symlink("a.bin", dir_.path("link"));
  EXPECT_THAT(local(*open("raw:" + dir_.path("link") + "?dtype=u8&shape=4")),
              HasSubstr(first.substr(first.find("8 bytes"))))
      << "the same file by a link, under its own name";
  const auto time = fs::last_write_time(dir_.path("a.bin"));
  fs::last_write_time(dir_.path("a.bin"), time + std::chrono::nanoseconds(1));
  EXPECT_NE(local(*open(uri)), first) << "time of modification";
  fs::last_write_time(dir_.path("a.bin"), time);
  EXPECT_NE(local(*open(uri)), first) << "time of status change";
  fs::rename(dir_.path("a.bin"), dir_.path("b.bin"));
  dir_.write("a.bin", "12345678");
  EXPECT_NE(local(*open(uri)), first) << "inode";
  EXPECT_NE(local(*open(raw("a.bin", "123456789012"))), first) << "size";
}

TEST_F(IdentityTest, StampsAreThoseOfTheFilesOfARecord) {
  const std::string a = raw("a.bin", "12345678"), b = dir_.write("b.bin", "12345678");
  const std::string both = "raw:" + dir_.path("a.bin") + "," + b + "?dtype=u8&shape=4";
  const SourceRef before = open(both);
  EXPECT_EQ(before->stamp(0), before->stamp(1));
  EXPECT_NE(before->stamp(1), before->stamp(2)) << "equal bytes, size and perhaps times, another file";
  dir_.write("b.bin", "abcdefgh");
  const SourceRef after = open(both);
  EXPECT_EQ(before->stamp(0), after->stamp(0));
  EXPECT_NE(before->stamp(2), after->stamp(2));
  EXPECT_EQ(local_structure(*before), local_structure(*after)) << "the paths are the same";
  EXPECT_NE(local_structure(*open("raw:" + b + "," + dir_.path("a.bin") + "?dtype=u8&shape=4")),
            local_structure(*before));
}

// What lies between both ends is not read.
TEST_F(IdentityTest, AContentOneKnowsBothEndsOfAFileAndNotItsMiddle) {
  constexpr auto kPiece = static_cast<size_t>(kIdentityPieceBytes);
  std::string bytes(3 * kPiece, 'a');
  const auto contents = [&](size_t at) {
    std::string changed = bytes;
    if (at < changed.size()) changed[at] = 'b';
    return content(*open(raw("a.bin", changed))).contents;
  };
  const std::string first = contents(bytes.size());
  for (const size_t at : {size_t{0}, kPiece - 1, 2 * kPiece, 3 * kPiece - 1})
    EXPECT_NE(contents(at), first) << at;
  for (const size_t at : {kPiece, 2 * kPiece - 1}) EXPECT_EQ(contents(at), first) << at;
  bytes.resize(100);
  const std::string small = contents(bytes.size());
  for (const size_t at : {size_t{0}, size_t{50}, size_t{99}}) EXPECT_NE(contents(at), small) << at;
}

TEST_F(IdentityTest, AContentOneSurvivesACopyAndNamesTheFirstFile) {
  const ContentIdentity first = content(*open(raw("here/a.bin", "12345678")));
  const ContentIdentity copy = content(*open(raw("there/a.bin", "12345678")));
  EXPECT_EQ(first.structure + first.names + first.sizes + first.contents,
            copy.structure + copy.names + copy.sizes + copy.contents);
  EXPECT_THAT(first.names, MatchesRegex("1 file, a.bin, [0-9a-f]{16}"));
  EXPECT_THAT(first.sizes, MatchesRegex("8 bytes, [0-9a-f]{16}"));
  EXPECT_NE(content(*open(raw("here/b.bin", "12345678"))).names, first.names);
  EXPECT_NE(content(*open(raw("here/a.bin", "123456789012"))).sizes, first.sizes);
}

TEST_F(IdentityTest, OfManyFilesSixtyFourAreReadTheFirstAndTheLastAmongThem) {
  constexpr int kFiles = 150;
  for (int i = 0; i < kFiles; ++i) dir_.write("set/" + std::to_string(1000 + i) + ".bin", "12345678");
  const std::string uri = "raw:" + dir_.path("set") + "?dtype=u8&shape=4";
  const std::string first = content(*open(uri)).contents;
  int seen = 0;
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = "set/" + std::to_string(1000 + i) + ".bin";
    dir_.write(name, "1234567!");
    const bool read = content(*open(uri)).contents != first;
    EXPECT_TRUE(read || (i > 0 && i < kFiles - 1)) << i;
    seen += static_cast<int>(read);
    dir_.write(name, "12345678");
  }
  EXPECT_EQ(seen, 64);
}

TEST_F(IdentityTest, AFileThatIsGoneCountsAsUnreadable) {
  for (const char* name : {"photos/a/1.jpg", "photos/a/2.jpg"}) dir_.write(name, "jpeg");
  const SourceRef folder = open("folder:" + dir_.path("photos"));
  const std::string first = content(*folder).contents;
  fs::remove(dir_.path("photos/a/2.jpg"));
  EXPECT_NE(content(*folder).contents, first);
  EXPECT_THAT(local(*folder), HasSubstr("file 1: a/2.jpg, unreadable, path "));
  EXPECT_EQ(folder->stamp(1), std::nullopt);
}

TEST_F(IdentityTest, DataInMemoryAndReadersWithoutANameHaveNoLocalOne) {
  const std::vector<uint8_t> bytes(1000, 7);
  auto memory = HostMemory::create({});
  ArrayField array;
  array.field = {"x", FieldKind::kDense, DType::kU8, {}, "", -1};
  array.data = reinterpret_cast<const std::byte*>(bytes.data());
  const SourceRef arrays = array_source({array}, 1000, {}, *memory).take();
  const Status refused = local_identity(*arrays).take_status();
  EXPECT_EQ(refused.code(), Code::kUnsupported);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("data in memory: changes of the data cannot be detected"));
  EXPECT_EQ(arrays->stamp(0), std::nullopt);
}

TEST_F(IdentityTest, AnObjectOfAStorageIsKnownByItsFingerprint) {
  auto storage = std::make_shared<OneStorage>();
  OpenContext context = test_context();
  context.storages.push_back(storage);
  const auto open_object = [&](const char* fingerprint, const char* path = "raw:one://a?dtype=u8&shape=4") {
    storage->fingerprint = fingerprint;
    return open(path, context);
  };
  const SourceRef silent = open_object("");
  EXPECT_EQ(silent->stamp(0), std::nullopt);
  EXPECT_EQ(local_identity(*silent).status().code(), Code::kUnsupported);
  const SourceRef first = open_object("v1");
  EXPECT_THAT(local(*first), HasSubstr("file 0: a, fingerprint v1, path "));
  EXPECT_EQ(local(*open_object("v1")), local(*first));
  EXPECT_NE(local(*open_object("v2")), local(*first));
  EXPECT_NE(open_object("v2")->stamp(0), first->stamp(0));
  EXPECT_NE(open_object("v1", "raw:one://b?dtype=u8&shape=4")->stamp(0), first->stamp(0));
  EXPECT_EQ(content(*open_object("v2")).contents, content(*first).contents) << "states survive a copy";
}

}  // namespace
}  // namespace dataline::identity_test
