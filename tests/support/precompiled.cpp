// Nothing: what the precompiled header of the tests is made for (tests/CMakeLists.txt).
// SPDX-License-Identifier: Apache-2.0
