/* Values of the generated calls: see call.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <string.h>

PyObject* call_text(const char* text) {
  return text == NULL ? PyUnicode_FromString("")
                      : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

PyObject* call_word(const char* const* words, int32_t last, int32_t number) {
  const char* word = number >= 0 && number <= last ? words[number] : NULL;
  return PyUnicode_FromString(word == NULL ? "unknown" : word);
}
