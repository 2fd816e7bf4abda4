// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/http_exchange.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace dataline::cli {
namespace {

constexpr size_t kMaxRequestBytes = 8192;

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

HttpExchange::HttpExchange(HttpExchange&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      deadline_(other.deadline_),
      head_(std::move(other.head_)),
      response_(std::move(other.response_)),
      sent_(other.sent_) {}

HttpExchange& HttpExchange::operator=(HttpExchange&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(deadline_, other.deadline_);
  std::swap(head_, other.head_);
  std::swap(response_, other.response_);
  std::swap(sent_, other.sent_);
  return *this;
}

HttpExchange::~HttpExchange() {
  if (socket_ >= 0) ::close(socket_);
}

short HttpExchange::events() const { return response_.empty() || is_sent() ? POLLIN : POLLOUT; }

bool HttpExchange::read() {
  std::array<char, 1024> piece;
  const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
  if (got < 0) return try_again();
  if (got == 0) return false;
  head_.append(piece.data(), static_cast<size_t>(got));
  return true;
}

bool HttpExchange::head_is_too_long() const { return head_.size() > kMaxRequestBytes; }

std::string HttpExchange::too_long_response() {
  return http_response("431 Request Header Fields Too Large", "text/plain; charset=utf-8",
                       "expected a request of at most " + std::to_string(kMaxRequestBytes) + " bytes\n");
}

bool HttpExchange::drop() {
  std::array<char, 1024> piece;
  const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
  return got < 0 ? try_again() : got > 0;
}

bool HttpExchange::head_is_there() const {
  return head_.find("\r\n\r\n") != std::string::npos || head_.find("\n\n") != std::string::npos;
}

std::string_view HttpExchange::first_line() const {
  return std::string_view(head_).substr(0, head_.find_first_of("\r\n"));
}

bool HttpExchange::send() {
  const ssize_t sent = ::send(socket_, response_.data() + sent_, response_.size() - sent_, MSG_NOSIGNAL);
  if (sent < 0) return try_again();
  sent_ += static_cast<size_t>(sent);
  return !is_sent() || ::shutdown(socket_, SHUT_WR) == 0;
}

std::string http_response(std::string_view status, std::string_view type, std::string_view body) {
  std::string text = "HTTP/1.0 ";
  text.append(status).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  return text.append("\r\nConnection: close\r\n\r\n").append(body);
}

}  // namespace dataline::cli
