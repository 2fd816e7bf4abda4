// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/bare_reads.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include "bindings/cli/clock.h"
#include "bindings/cli/handles.h"

namespace dataline::cli {
namespace {

constexpr size_t kMostFiles = 4096;
constexpr size_t kKeptOpen = 256;       // more files than that are opened for each read, as a folder's are
constexpr int64_t kReadsInFlight = 16;  // what a disk, or a link, needs to show what it can
constexpr int64_t kLeastPiece = 512, kMostPiece = int64_t{16} << 20, kSequentialPiece = int64_t{1} << 20;

using OpenFile = std::unique_ptr<dl_file, Call<dl_file_destroy>>;

OpenFile open_file(const std::string& path, const dl_options* options) {
  dl_file* file = nullptr;
  dl_error error = DL_ERROR_INIT;
  return OpenFile(dl_file_open(path.c_str(), options, &file, &error) == DL_OK ? file : nullptr);
}

std::string unescaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const auto digit = [](char c) { return kHex.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c)); };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t high = text[i] == '%' && i + 2 < text.size() ? digit(text[i + 1]) : std::string::npos;
    const size_t low = high == std::string::npos ? high : digit(text[i + 2]);
    out += low == std::string::npos ? text[i] : static_cast<char>(16 * high + low);
    if (low != std::string::npos) i += 2;
  }
  return out;
}

void add_files(const std::string& path, std::vector<std::string>& out) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (path.find("://") != std::string::npos || !fs::is_directory(path, failed)) {
    out.push_back(path);
    return;
  }
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, kOptions, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (out.size() >= kMostFiles) return;
    std::error_code no_file;
    if (at->is_regular_file(no_file)) out.push_back(at->path().string());
  }
}

class BareReader {
 public:
  BareReader(const std::vector<std::string>& files, const dl_options* options)
      : files_(files), options_(options) {
    if (files.size() > kKeptOpen) return;
    for (const std::string& path : files) {
      open_.push_back(open_file(path, options));
      if (open_.back()) total_ += dl_file_bytes(open_.back().get());
      ends_.push_back(total_);
    }
  }

  // Bytes a second of `threads` that read pieces for `seconds`; 0: one of them failed.
  double rate(int64_t threads, double seconds, int64_t piece, bool random) {
    std::atomic<int64_t> bytes{0}, failed{0}, next{0};
    std::vector<std::thread> readers;
    const auto start = Clock::now();
    for (int64_t t = 0; t < threads; ++t) {
      readers.emplace_back([&, t] {
        std::mt19937_64 draws(static_cast<uint64_t>(t) + 1);
        std::vector<char> into(static_cast<size_t>(piece));
        while (failed == 0 && seconds_since(start) < seconds) {
          const int64_t got = read(random ? static_cast<int64_t>(draws() >> 1) : next++ * piece, into);
          got < 0 ? failed++ : bytes += got;
        }
      });
    }
    for (std::thread& reader : readers) reader.join();
    return failed > 0 ? 0 : static_cast<double>(bytes) / seconds_since(start);
  }

  bool empty() const { return files_.empty() || (!open_.empty() && total_ == 0); }

 private:
  // A piece at some place, which any number names; -1: it cannot be read.
  int64_t read(int64_t number, std::vector<char>& into) const {
    if (open_.empty()) {
      const auto which = static_cast<size_t>(number) % files_.size();
      const OpenFile file = open_file(files_[which], options_);
      return file ? read_from(*file, 0, into) : -1;
    }
    const int64_t place = number % total_;
    const auto which = std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
    const int64_t begin = which == 0 ? 0 : ends_[static_cast<size_t>(which - 1)];
    return read_from(*open_[static_cast<size_t>(which)], place - begin, into);
  }

  static int64_t read_from(const dl_file& file, int64_t offset, std::vector<char>& into) {
    const int64_t bytes = std::min<int64_t>(std::ssize(into), dl_file_bytes(&file) - offset);
    dl_error error = DL_ERROR_INIT;
    const bool done = bytes <= 0 || dl_file_read(&file, offset, bytes, into.data(), nullptr, &error) == DL_OK;
    return done ? std::max<int64_t>(0, bytes) : -1;
  }

  const std::vector<std::string>& files_;
  const dl_options* options_;
  std::vector<OpenFile> open_;
  std::vector<int64_t> ends_;  // of the files, as if they were one
  int64_t total_ = 0;
};

}  // namespace

std::vector<std::string> files_of_uri(const std::string& uri) {
  std::vector<std::string> out;
  const size_t colon = uri.find(':');
  if (colon == std::string::npos || uri.starts_with("mix:")) return out;
  std::string_view rest = std::string_view(uri).substr(colon + 1);
  rest = rest.substr(0, rest.find('?'));
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    add_files(unescaped(rest.substr(0, comma)), out);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

std::optional<BareReads> bare_reads(const std::vector<std::string>& files, const dl_options* options,
                                    int64_t piece_bytes, double seconds) {
  BareReader reader(files, options);
  if (reader.empty()) return std::nullopt;
  const int64_t piece = std::clamp(piece_bytes, kLeastPiece, kMostPiece);
  BareReads found{.piece_bytes = piece, .threads = kReadsInFlight};
  found.random_bytes_per_s = reader.rate(kReadsInFlight, seconds, piece, true);
  found.sequential_bytes_per_s = reader.rate(kReadsInFlight, seconds, kSequentialPiece, false);
  return found.random_bytes_per_s > 0 ? std::optional(found) : std::nullopt;
}

}  // namespace dataline::cli
