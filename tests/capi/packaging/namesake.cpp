// A host with global names that the library uses inside: the archive must not bring its own into the link.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

namespace dataline {

enum class Code : int;
enum class DType : int;

std::string_view code_name(Code code);
std::string_view code_name(Code code) { return code == Code() ? "the host's" : ""; }
long dtype_bytes(DType dtype);
long dtype_bytes(DType dtype) { return static_cast<long>(dtype); }

}  // namespace dataline
