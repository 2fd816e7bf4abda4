// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/manual.h"

#include <dataline.h>

namespace dataline::cli {
namespace {

// As text of a line: nothing in it is a command of roff, and a `-` can be copied.
std::string escaped(std::string_view text) {
  std::string out = !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Manual::Manual(const std::string& name, std::string_view summary) : name_(name) {
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  roff_ = ".TH " + escaped(title) + " 1 \"\" \"dataline " + dl_version_string() + "\" \"Dataline\"\n";
  section("NAME");
  roff_ += escaped(name) + " \\- " + escaped(summary) + "\n";
}

Manual& Manual::section(std::string_view title) {
  roff_ += ".SH \"" + std::string(title) + "\"\n";
  return *this;
}

Manual& Manual::text(std::string_view text) {
  if (!roff_.ends_with("\"\n")) roff_ += ".PP\n";  // none after a heading
  roff_ += escaped(text) + "\n";
  return *this;
}

Manual& Manual::item(std::string_view head, std::string_view text) {
  roff_ += ".TP\n\\fB" + escaped(head) + "\\fR\n" + escaped(text) + "\n";
  return *this;
}

Manual& Manual::example(std::string_view line) {
  roff_ += ".PP\n.nf\n    " + escaped(line) + "\n.fi\n";
  return *this;
}

Manual& Manual::see_also(const std::vector<std::string>& commands) {
  section("SEE ALSO");
  if (name_ != "dataline") roff_ += ".BR dataline (1)\n";
  for (size_t i = 0; i < commands.size(); ++i)
    roff_ += ".BR dataline\\-" + commands[i] + " (1)" + (i + 1 < commands.size() ? "," : "") + "\n";
  return *this;
}

}  // namespace dataline::cli
