/* What this machine's libstdc++.a asks of its C library and an older one does not have. Part of the portable archive alone, hidden.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc 2.32: whether the process has one thread so far. "No" is always right: reference counts are then atomic. */
char __libc_single_threaded = 0;

/* glibc 2.36; std::random_device calls it. */
uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}
