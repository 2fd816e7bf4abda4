// What the tests of dataline.hpp share: small datasets whose sample i is i, and what a failing call says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <dataline.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace dataline::cpp_tests {

inline std::vector<uint64_t> count_to(int64_t n) {
  std::vector<uint64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), uint64_t{0});
  return values;
}

// One u64 field `data`.
inline Dataset counting(int64_t n) { return Dataset::copy_arrays({Array("data", count_to(n))}); }

inline std::vector<uint64_t> values_of(const Batch& batch) {
  const Span<const uint64_t> data = batch["data"].as<uint64_t>();
  return {data.begin(), data.end()};
}

// The samples of the loop that a `for` would run.
inline std::vector<uint64_t> loop(Loader& loader) {
  std::vector<uint64_t> all;
  for (const Batch& batch : loader) {
    const std::vector<uint64_t> values = values_of(batch);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// What `call` throws; Error() when it does not.
template <typename Call>
Error thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error();
}

// A release callable that counts its calls and the copies of itself that are alive.
class Loan {
 public:
  Loan(std::atomic<int>* returned, std::atomic<int>* alive) : returned_(returned), alive_(alive) {
    ++*alive_;
  }
  Loan(const Loan& other) : Loan(other.returned_, other.alive_) {}
  Loan& operator=(const Loan&) = delete;
  ~Loan() { --*alive_; }
  void operator()() const noexcept { ++*returned_; }

 private:
  std::atomic<int>* returned_;
  std::atomic<int>* alive_;
};

inline bool says(const Error& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (std::string(error.message()).find(part) == std::string::npos) {
      ADD_FAILURE() << "no '" << part << "' in: " << error.message();
      return false;
    }
  }
  return true;
}

}  // namespace dataline::cpp_tests
