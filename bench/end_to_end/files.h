// The files that rows read: made once under the data folder, the same on every machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

constexpr int64_t kNpyHeaderBytes = 128;  // of every .npy file made here

// Pseudo-random bytes behind a .npy header of shape (rows, row_bytes); made when absent, on disk when it
// returns.
std::string random_rows_file(const std::string& data_dir, int64_t rows, int64_t row_bytes);
// Pseudo-random u16 tokens, without a header.
std::string random_tokens_file(const std::string& data_dir, int64_t token_count);
// The same in documents of lognormal lengths (median 400, sigma 1.2, as web text has), each ended by the token 0.
std::string documents_file(const std::string& data_dir, int64_t token_count);
// The same shape as random_rows_file, but a hole: nothing on disk but the header.
std::string sparse_rows_file(const std::string& data_dir, int64_t rows, int64_t row_bytes);

// A .npy file of u8 of that shape ("10, 4") and size, which `fill` makes when it is absent.
std::string made_npy(const std::string& path, const std::string& shape, int64_t bytes,
                     const std::function<void(std::vector<uint8_t>*)>& fill);

// A file of this text, made when it is absent.
std::string made_text(const std::string& path, const std::string& text);

// A file of ours mapped for reading, its pages present.
class Mapping {
 public:
  explicit Mapping(const std::string& path);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  const std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  void populate() const;

 private:
  const std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Drops the file from the page cache. Pages that somebody has mapped stay.
void drop_from_cache(const std::string& path);
// Share of the file's pages in memory, 0 to 1, by mincore.
double resident_share(const std::string& path);

}  // namespace bench
