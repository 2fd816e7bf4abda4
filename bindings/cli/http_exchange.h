// One request over HTTP/1.0 and its response, on a socket that never blocks. Both together have one deadline, so a client that
// sends or takes a byte at a time ends like one that is silent.
//
// After the response, what the client still sends is read and dropped until it closes: closing a socket with unread data resets the
// connection, and the client may lose the response.
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace dataline::cli {

class HttpExchange {
 public:
  using Clock = std::chrono::steady_clock;

  // Owns the socket, which must be non-blocking.
  HttpExchange(int socket, Clock::time_point deadline) : socket_(socket), deadline_(deadline) {}
  HttpExchange(HttpExchange&& other) noexcept;
  HttpExchange& operator=(HttpExchange&& other) noexcept;
  ~HttpExchange();  // closes the socket

  int socket() const { return socket_; }
  Clock::time_point deadline() const { return deadline_; }
  short events() const;  // of poll, that the next step waits for

  // Reads or sends what it can now. `answer(line)` makes the response from the first line of the request. Returns false once the
  // exchange is over: the client has closed, or is gone.
  template <class Answer>
  bool step(const Answer& answer) {
    if (is_sent()) return drop();
    if (response_.empty()) {
      if (!read()) return false;
      if (!head_is_there() && !head_is_too_long()) return true;
      response_ = head_is_there() ? answer(first_line()) : too_long_response();
    }
    return send();
  }

 private:
  bool read();
  bool send();
  bool drop();
  bool head_is_there() const;
  bool head_is_too_long() const;
  bool is_sent() const { return !response_.empty() && sent_ == response_.size(); }
  static std::string too_long_response();
  std::string_view first_line() const;

  int socket_;
  Clock::time_point deadline_;
  std::string head_;
  std::string response_;
  size_t sent_ = 0;
};

// `status`: "200 OK".
std::string http_response(std::string_view status, std::string_view type, std::string_view body);

}  // namespace dataline::cli
