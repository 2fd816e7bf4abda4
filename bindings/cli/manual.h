// A page for `man`, in roff with the macros of man(7).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

class Manual {
 public:
  Manual(const std::string& name, std::string_view summary);

  Manual& section(std::string_view title);
  Manual& text(std::string_view text);  // a paragraph
  Manual& item(std::string_view head, std::string_view text);
  Manual& example(std::string_view line);
  // dataline(1) but on its own page, and dataline-COMMAND(1) of these.
  Manual& see_also(const std::vector<std::string>& commands);

  const std::string& roff() const { return roff_; }

 private:
  std::string name_;
  std::string roff_;
};

}  // namespace dataline::cli
