// The system's calls under a MappedFile: a read-only map of a whole file, its pages, and what one descriptor tells of its file.
// Threads: plain functions, callable from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dataline {

// The first `bytes` > 0 of the file, shared, read in no order; null: see errno.
const std::byte* map_file(int descriptor, int64_t bytes) noexcept;
void unmap_file(const std::byte* data, int64_t bytes) noexcept;

// Starts asynchronous read-ahead: of pages of a map (`begin` at a page's start), and of a part of a file.
void advise_pages(const std::byte* begin, int64_t bytes) noexcept;
void advise_file(int descriptor, int64_t offset, int64_t bytes) noexcept;
// Faults pages of a map in (`begin` at a page's start). errno: EFAULT where the file does not have them; EINVAL where the
// system cannot do this, as before Linux 5.14 and on Windows, where a mapped file cannot be truncated.
int populate_pages(const std::byte* begin, int64_t bytes) noexcept;
// Whether the page of a map at `page` is in the page cache; true where that is unknown.
bool is_resident(const std::byte* page) noexcept;

int64_t size_of(int descriptor) noexcept;  // -1: see errno
// Until a writer that is appending has published the new length.
void await_append(int descriptor) noexcept;
// Whether so many descriptors are open that this one is better closed: half of them are left to the host.
bool descriptors_scarce(int descriptor) noexcept;

}  // namespace dataline
