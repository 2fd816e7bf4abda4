// A driver from before CUDA 12: it knows its version and has no cuGetProcAddress_v2. SPDX-License-Identifier: Apache-2.0

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 11080;
  return 0;
}
