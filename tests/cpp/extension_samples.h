// The format, operator and storage of tests/extensions/README.md over dataline.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <dataline.hpp>
#include <memory>
#include <string>
#include <utility>

namespace dataline::cpp_tests {

// The rows of a file.
class DlrecRows : public Reader {
 public:
  DlrecRows(std::string path, File file, int64_t count, int64_t row_bytes, bool sums)
      : path_(std::move(path)), file_(std::move(file)), count_(count), row_bytes_(row_bytes), sums_(sums) {}
  std::vector<Field> fields() const override {
    std::vector<Field> fields = {Field::dense<uint8_t>("x", {row_bytes_})};
    if (sums_) fields.push_back(Field::dense<int64_t>("label"));
    return fields;
  }
  int64_t count() const override { return count_; }
  std::vector<std::string> files() const override { return {path_}; }
  void read(int64_t index, Record& record) override {
    const Span<uint8_t> row = record.room<uint8_t>(0);
    file_.read(16 + index * row_bytes_, row.data(), row_bytes_, record.cancelled());
    if (row[0] == 255) return record.fail("the row is marked bad");
    int64_t sum = 0;
    for (uint8_t byte : row) sum += byte;
    if (sums_) record.put(1, sum);
  }

 private:
  std::string path_;
  File file_;
  int64_t count_, row_bytes_;
  bool sums_;
};

inline constexpr char kDlrecMagic[] = "DLREC1\n";  // with its NUL

inline Format dlrec_format() {
  Format format;
  format.name = "dlrec";
  format.doc = "rows of bytes, for tests";
  format.keys = {{"labels", "none|sum", "none", "sum: a field label, the sum of the row's bytes"}};
  format.suffixes = ".dlrec";
  format.sniff = [](const char*, Span<const std::byte> first, int64_t) {
    const bool ours = first.size() >= 16 && std::memcmp(first.data(), kDlrecMagic, 8) == 0;
    return ours ? DL_SNIFF_CERTAIN : DL_SNIFF_NO;
  };
  format.open = [](const FormatRequest& request) -> Result<Dataset> {
    File file(request.path(), request.options());
    struct {
      char magic[8];
      uint32_t count, row_bytes;
    } header = {};
    if (file.bytes() >= 16) file.read(0, &header, 16);
    const int64_t count = header.count, row_bytes = header.row_bytes;
    if (std::memcmp(header.magic, kDlrecMagic, 8) != 0 || row_bytes == 0 ||
        file.bytes() != 16 + count * row_bytes) {
      return Error(DL_ERR_CORRUPT, request.path() + ": not a dlrec file, or a part of one");
    }
    const bool sums = request.value(0) == "sum";
    return Dataset::from_reader(
        std::make_unique<DlrecRows>(request.path(), std::move(file), count, row_bytes, sums),
        request.options());
  };
  return format;
}

inline Operator offset_operator() {
  Operator made;
  made.name = "offset";
  made.doc = "Adds a number, and noise times a draw, to bytes.";
  made.arguments = {{"value", "number", ""}, {"noise", "number", "0"}};
  made.prepare = [](OperatorUse& use) -> RowFunction {
    if (use.input().is_ragged() || use.input().dtype() != DL_DTYPE_U8)
      return use.refuse("expected a dense field of u8");
    for (int32_t i = 0; i < 2; ++i) {
      if (use.numbers(i).size() != 1) return use.refuse_argument(i, "expected a number");
    }
    const double value = use.numbers(0)[0], noise = use.numbers(1)[0];
    if (noise < 0) return use.refuse_argument(1, "expected 0 or more");
    use.dtype<float>().draws(noise > 0);
    return [value, noise](OperatorRow& row) {
      const double u = noise > 0 ? row.uniform(0) : 0;
      const Span<float> to = row.output<float>();
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(static_cast<int>(row.input()[i]) + value + noise * u);
    };
  };
  return made;
}

class XoredFile : public StoredObject {
 public:
  explicit XoredFile(File file) : file_(std::move(file)) {}
  int64_t bytes() const override { return file_.bytes(); }
  Result<void> read(int64_t offset, Span<std::byte> out, Cancelled cancelled) const override {
    Result<void> done = file_.try_read(offset, out.data(), static_cast<int64_t>(out.size()), cancelled);
    for (std::byte& byte : out) byte ^= std::byte{0x5A};
    return done;
  }

 private:
  File file_;
};

inline Storage xor_storage() {
  Storage storage;
  storage.scheme = "xor";
  storage.doc = "files with every byte XORed with 0x5A, for tests";
  storage.open = [](const StorageRequest& request) -> Result<std::unique_ptr<StoredObject>> {
    const std::string path = request.path().substr(std::strlen("xor://"));
    if (path.size() >= 5 && path.compare(path.size() - 5, 5, ".gone") == 0)
      return Error(DL_ERR_NOT_FOUND, "no such object");
    return std::unique_ptr<StoredObject>(std::make_unique<XoredFile>(File(path, request.options())));
  };
  return storage;
}

}  // namespace dataline::cpp_tests
