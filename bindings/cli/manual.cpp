// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/manual.h"

#include <dataline.h>

#include "bindings/cli/text.h"

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

// Over several lines, as roff likes its text. A line of it may not start as a command does.
std::string lines(std::string_view text) {
  constexpr size_t kColumns = 70;
  const std::string wrapped = wrapped_text(text, kColumns, 0) + "\n";
  std::string out;
  for (size_t at = 0; at < wrapped.size();) {
    const size_t end = wrapped.find('\n', at);
    out += escaped(std::string_view(wrapped).substr(at, end - at)) + "\n";
    at = end + 1;
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
  roff_ += lines(text);
  return *this;
}

Manual& Manual::item(std::string_view head, std::string_view text) {
  roff_ += ".TP\n\\fB" + escaped(head) + "\\fR\n" + lines(text);
  return *this;
}

Manual& Manual::example(std::string_view line) {
  if (!roff_.ends_with("\"\n")) roff_ += ".PP\n";
  roff_ += ".nf\n    " + escaped(line) + "\n.fi\n";
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
