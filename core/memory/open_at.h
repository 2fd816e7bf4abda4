// How an OpenDirectory opens what is below it, by one system call each. Flags: file.h's, or O_PATH. On failure: none, see errno.
// Threads: plain functions, callable from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory/file.h"

namespace dataline {

Descriptor open_at(int directory, const char* name, int flags);
// EXDEV for what lies outside the directory, EAGAIN when anything was renamed meanwhile, ENOSYS where the system cannot tell.
Descriptor open_beneath_at(int directory, const char* name, int flags);
// One component, which is no link: ELOOP or ENOTDIR.
Descriptor open_unlinked_at(int directory, const char* component, int flags);

}  // namespace dataline
