// Any bytes as an IDX file, plain or gzipped: refused by name, or every record is the big-endian bytes that the header
// places there, turned round.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/idx/idx.h"

#include "core/source/gzip.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

size_t width_of(unsigned char type) {
  switch (type) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0b:
      return 2;
    case 0x0c:
    case 0x0d:
      return 4;
    case 0x0e:
      return 8;
    default:
      return 0;
  }
}

// What the format says of these bytes, and nothing else.
void check_plain(std::string_view bytes, const std::string& path, IoMode io) {
  Result<SourceRef> opened = open_idx(path, context(io));
  const size_t width = bytes.size() < 4 ? 0 : width_of(static_cast<unsigned char>(bytes[2]));
  const size_t rank = bytes.size() < 4 ? 0 : static_cast<unsigned char>(bytes[3]);
  const size_t header = 4 + 4 * rank;
  bool good =
      width > 0 && bytes[0] == 0 && bytes[1] == 0 && rank >= 1 && rank <= 32 && bytes.size() >= header;
  uint64_t record = width, left = good ? bytes.size() - header : 0;
  for (size_t d = 1; good && d < rank; ++d) {
    record *= number_at(bytes, 4 + 4 * d, 4, true);
    good = record > 0 && record <= (uint64_t{1} << 31);
  }
  const uint64_t count = good ? number_at(bytes, 4, 4, true) : 0;
  // Larger records are legal where there are none of them.
  if (good && count * record != left) good = false;
  if (!opened.is_ok()) {
    check_names(opened.status(), path);
    return check(!good, "a file that is what its header says is read", opened.status().message());
  }
  const Source& source = *opened.value();
  if (source.count() == 0) return check(bytes.size() == header, "no records, no bytes");
  check(good, "a file that contradicts its header is refused");
  check(static_cast<uint64_t>(source.count()) == count, "as many records as the first dim says");
  if (record > 1 << 16) return;
  Rows rows(source);
  for (int64_t index : some_of(source.count())) {
    const auto got = rows.read(index);
    const std::string_view stored = bytes.substr(header + static_cast<size_t>(index) * record, record);
    check(got.size() == 1 && got[0] == turned(stored, width), "a record is the stored one");
  }
}

// A good .gz holds what check_plain() says of its content.
void check_inflated(std::string_view bytes, const std::string& path, const Folder& folder) {
  Result<IdxFile> opened = read_idx(path, context());
  if (!opened.is_ok()) return check_names(opened.status(), path);
  const IdxFile& idx = opened.value();
  check(idx.inflated && idx.file.bytes() <= max_inflated_bytes(static_cast<int64_t>(bytes.size())),
        "no more comes out than deflate can make");
  const std::string plain(reinterpret_cast<const char*>(idx.file.at(0)),
                          static_cast<size_t>(idx.file.bytes()));
  check_plain(plain, folder.write("inflated.idx", plain), IoMode::kPread);
}

void run(std::string_view bytes) {
  static const Folder folder;
  const std::string path = folder.write("fuzz.idx", bytes);
  if (bytes.size() >= 2 && byte_at(bytes, 0) == 0x1f && byte_at(bytes, 1) == 0x8b) {
    check_inflated(bytes, path, folder);
  } else {
    check_plain(bytes, path, IoMode::kMmap);
    check_plain(bytes, path, IoMode::kMemory);
  }
}

const Target kTarget("idx", run);

}  // namespace
}  // namespace dataline::fuzz
