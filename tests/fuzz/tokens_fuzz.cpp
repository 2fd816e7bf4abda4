// Any bytes as a token file: the first three choose length, stride and dtype, the rest is the file. Refused by name, or
// every window is the tokens that the header places there, and there are as many as the formula says.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/source/npy/npy_header.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr DType kTypes[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64,
                            DType::kI8, DType::kI16, DType::kI32, DType::kI64};

struct Options {
  int64_t length = 0, stride = 0;
  bool views = false;
  std::optional<DType> dtype;

  std::string keys() const {
    return concat("?length=", length, "&stride=", stride, "&views=", views ? "true" : "false",
                  dtype ? concat("&dtype=", dtype_name(*dtype)) : "");
  }
};

struct Stored {
  DType dtype = DType::kU16;
  bool swapped = false;
  size_t offset = 0;
};

// Where the tokens of an accepted file lie, by the definitions of the three kinds.
Stored stored_in(const std::string& path, std::string_view bytes, const Options& options) {
  MappedFile file = MappedFile::open(path, context()).take();
  if (bytes.starts_with("\x93NUMPY")) {
    const NpyHeader header = read_npy_header(file, false).take();
    return {header.dtype, header.swapped, static_cast<size_t>(header.data_offset)};
  }
  const uint64_t magic = bytes.size() < 4 ? 0 : number_at(bytes, 0, 4, false);
  if (magic == 20240520 || magic == 20240801) {
    check(bytes.size() >= 1024, "an llm.c header is whole");
    const Stored stored{magic == 20240520 ? DType::kU16 : DType::kU32, false, 1024};
    check((bytes.size() - 1024) % static_cast<size_t>(dtype_bytes(stored.dtype)) == 0, "no token is cut");
    check(number_at(bytes, 8, 4, false) ==
              (bytes.size() - 1024) / static_cast<size_t>(dtype_bytes(stored.dtype)),
          "as many tokens as the header says");
    return stored;
  }
  return {options.dtype.value_or(DType::kU16), false, 0};
}

void check_windows(const std::string& path, std::string_view bytes, const Options& options) {
  Result<SourceRef> opened = open_source(concat("tokens:", path, options.keys()), context());
  if (!opened.is_ok()) return check_names(opened.status(), path);
  const Source& source = *opened.value();
  const Stored stored = stored_in(path, bytes, options);
  const auto width = static_cast<size_t>(dtype_bytes(stored.dtype));
  check(!options.dtype || *options.dtype == stored.dtype, "the dtype is the wanted one");
  check(source.schema().fields[0].dtype == stored.dtype, "the field has the file's dtype");
  check((bytes.size() - stored.offset) % width == 0, "no token is cut");
  const auto tokens = static_cast<int64_t>((bytes.size() - stored.offset) / width);
  const int64_t windows =
      tokens < options.length + 1 ? 0 : (tokens - options.length - 1) / options.stride + 1;
  check(source.count() == windows, "as many windows as the formula says");
  Rows rows(source);
  for (int64_t index : some_of(windows)) {
    const auto got = rows.read(index);
    const std::string_view window =
        bytes.substr(stored.offset + static_cast<size_t>(index * options.stride) * width,
                     static_cast<size_t>(options.length + 1) * width);
    check(got.size() == 1 && got[0] == (stored.swapped ? turned(window, width) : window),
          "a window is the stored tokens");
  }
}

void run(std::string_view input) {
  static const Folder folder;
  if (input.size() < 3) return;
  Options options;
  options.length = byte_at(input, 0) % 32 + 1;
  options.stride = byte_at(input, 1) % 48 + 1;
  if (byte_at(input, 2) % 16 < std::size(kTypes)) options.dtype = kTypes[byte_at(input, 2) % 16];
  options.views = (byte_at(input, 2) & 128) != 0;
  const std::string_view bytes = input.substr(3);
  for (const char* name : {"fuzz.bin", "fuzz.npy", "fuzz"})
    check_windows(folder.write(name, bytes), bytes, options);
}

const Target kTarget("tokens", run);

}  // namespace
}  // namespace dataline::fuzz
