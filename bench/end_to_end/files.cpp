// The files that rows read: made once under the data folder, the same on every machine.
// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "bench/end_to_end/measure.h"

namespace bench {

namespace {

[[noreturn]] void fail_on(const char* act, const std::string& path) {
  fail(std::string(act) + " " + path + ": " + std::strerror(errno));
}

void write_all(int fd, const void* data, int64_t bytes, const std::string& path) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd, from, static_cast<size_t>(bytes));
    if (written < 0) fail_on("writing", path);
    from += written;
    bytes -= written;
  }
}

std::string npy_header_of_shape(const std::string& shape) {
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);  // 0x76: 118 bytes follow
  header += "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(kNpyHeaderBytes - 1, ' ');
  return header + "\n";
}

std::string npy_header(int64_t rows, int64_t row_bytes) {
  return npy_header_of_shape(std::to_string(rows) + ", " + std::to_string(row_bytes));
}

uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

void write_random(int fd, int64_t bytes, const std::string& path) {
  std::vector<uint64_t> block(1 << 17);
  uint64_t counter = 0;
  for (int64_t done = 0; done < bytes;) {
    for (uint64_t& word : block) word = mix(++counter * 0x9e3779b97f4a7c15u);
    const int64_t piece = std::min<int64_t>(bytes - done, static_cast<int64_t>(block.size() * 8));
    write_all(fd, block.data(), piece, path);
    done += piece;
  }
}

bool has_size(const std::string& path, int64_t bytes) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && found.st_size == bytes;
}

// Writes to a temporary name and renames, so that an aborted run leaves no partial file.
template <typename Write>
std::string make_file(const std::string& path, int64_t bytes, Write write) {
  if (has_size(path, bytes)) return path;
  const std::string draft = path + "." + std::to_string(::getpid());
  const int fd = ::open(draft.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) fail_on("creating", draft);
  write(fd, draft);
  if (::fdatasync(fd) != 0 || ::close(fd) != 0) fail_on("writing", draft);
  if (::rename(draft.c_str(), path.c_str()) != 0) fail_on("renaming", draft);
  return path;
}

std::string rows_name(const std::string& data_dir, const char* kind, int64_t rows, int64_t row_bytes) {
  return data_dir + "/" + kind + "_" + std::to_string(rows) + "x" + std::to_string(row_bytes) + ".npy";
}

}  // namespace

std::string random_rows_file(const std::string& data_dir, int64_t rows, int64_t row_bytes) {
  return make_file(rows_name(data_dir, "rows", rows, row_bytes), kNpyHeaderBytes + rows * row_bytes,
                   [&](int fd, const std::string& path) {
                     write_all(fd, npy_header(rows, row_bytes).data(), kNpyHeaderBytes, path);
                     write_random(fd, rows * row_bytes, path);
                   });
}

std::string random_tokens_file(const std::string& data_dir, int64_t token_count) {
  return make_file(data_dir + "/tokens_" + std::to_string(token_count) + ".bin", token_count * 2,
                   [&](int fd, const std::string& path) { write_random(fd, token_count * 2, path); });
}

std::string documents_file(const std::string& data_dir, int64_t token_count) {
  return make_file(data_dir + "/documents_" + std::to_string(token_count) + ".bin", token_count * 2,
                   [&](int fd, const std::string& path) {
                     std::mt19937_64 draw(1);
                     std::lognormal_distribution<double> length(std::log(400.0), 1.2);
                     std::vector<uint16_t> tokens(static_cast<size_t>(token_count));
                     for (uint16_t& token : tokens) token = static_cast<uint16_t>(1 + draw() % 50'000);
                     for (double at = length(draw); at < static_cast<double>(token_count);
                          at += 1 + length(draw))
                       tokens[static_cast<size_t>(at)] = 0;
                     tokens.back() = 0;
                     write_all(fd, tokens.data(), token_count * 2, path);
                   });
}

std::string sparse_rows_file(const std::string& data_dir, int64_t rows, int64_t row_bytes) {
  return make_file(rows_name(data_dir, "sparse", rows, row_bytes), kNpyHeaderBytes + rows * row_bytes,
                   [&](int fd, const std::string& path) {
                     write_all(fd, npy_header(rows, row_bytes).data(), kNpyHeaderBytes, path);
                     if (::ftruncate(fd, kNpyHeaderBytes + rows * row_bytes) != 0) fail_on("extending", path);
                   });
}

std::string made_npy(const std::string& path, const std::string& shape, int64_t bytes,
                     const std::function<void(std::vector<uint8_t>*)>& fill) {
  return make_file(path, kNpyHeaderBytes + bytes, [&](int fd, const std::string& draft) {
    std::vector<uint8_t> data(static_cast<size_t>(bytes));
    fill(&data);
    write_all(fd, npy_header_of_shape(shape).data(), kNpyHeaderBytes, draft);
    write_all(fd, data.data(), bytes, draft);
  });
}

std::string made_text(const std::string& path, const std::string& text) {
  const auto bytes = static_cast<int64_t>(text.size());
  return make_file(path, bytes,
                   [&](int fd, const std::string& draft) { write_all(fd, text.data(), bytes, draft); });
}

Mapping::Mapping(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_on("opening", path);
  struct stat found {};
  if (::fstat(fd, &found) != 0) fail_on("looking at", path);
  bytes_ = found.st_size;
  void* address = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) fail_on("mapping", path);
  ::close(fd);
  data_ = static_cast<const std::byte*>(address);
}

Mapping::~Mapping() { ::munmap(const_cast<std::byte*>(data_), static_cast<size_t>(bytes_)); }

void Mapping::populate() const {
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, missing from older headers
  ::madvise(const_cast<std::byte*>(data_), static_cast<size_t>(bytes_), kPopulateRead);
  uint64_t sum = 0;
  for (int64_t at = 0; at < bytes_; at += 4096) sum += static_cast<uint64_t>(data_[at]);
  keep(sum);
}

void drop_from_cache(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_on("opening", path);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

double resident_share(const std::string& path) {
  const Mapping map(path);
  std::vector<unsigned char> pages(static_cast<size_t>((map.bytes() + 4095) / 4096));
  if (::mincore(const_cast<std::byte*>(map.data()), static_cast<size_t>(map.bytes()), pages.data()) != 0) {
    fail_on("asking for the pages of", path);
  }
  const auto present = std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; });
  return static_cast<double>(present) / static_cast<double>(pages.size());
}

}  // namespace bench
