// Errors are values: Status and Result<T>, a code and a one-line message; the failed rows of a run; and what only a defect
// can break.
// Threads: values, externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataline {

// The values are those of dl_status in capi/dataline.h (capi asserts it), and are never reused.
enum class Code : int32_t {
  kOk = 0,
  // Soft results, not errors.
  kEndOfEpoch = 1,
  kEnd = 2,
  kTimeout = 3,
  kCancelled = 4,
  kInterrupted = 5,
  // -1..-19: the call.
  kInvalidArgument = -1,  // a null pointer, a wrong struct_size, a value that makes no sense
  kUnknownOption = -2,    // no such key
  kBadOption = -3,        // a value of the wrong type or out of range, or conflicting options
  kBadUri = -4,           // a URI that does not parse, an unknown scheme or key
  kBadTransform = -5,     // a transform that does not parse or does not fit the fields
  kNoSuchField = -6,
  kUnsupported = -7,  // known, but not in this build or this release
  kWrongState = -8,   // the call does not fit the object's state
  kForked = -9,       // the object belongs to the parent process
  // -20..-39: the machine.
  kNoMemory = -20,
  kOverBudget = -21,  // the plan does not fit memory_budget
  kLeasesHeld = -22,  // the consumer holds too many batches
  kThread = -23,      // a thread could not be started
  kTooManyFiles = -24,
  // -40..-69: the data.
  kNotFound = -40,
  kPermission = -41,
  kNotAFile = -42,    // a directory, FIFO, socket or device where a file is needed
  kIo = -43,          // the operating system refused a read
  kTruncated = -44,   // a file is shorter than it says, or became shorter
  kCorrupt = -45,     // bytes that contradict the format
  kUnsafeType = -46,  // object arrays, pickles: refused by name
  kMismatch = -47,    // parts of a dataset that do not fit each other
  kChanged = -48,     // a file was replaced while it was open
  kBadSample = -49,   // a sample was refused; the next call goes on
  kTooManyBad = -50,
  kOutOfRange = -51,  // an index, label or weight out of range
  kReader = -52,      // the host's reader callback failed
  kTooLarge = -53,    // a sample larger than max_bytes_per_sample, a limit exceeded
  kEmpty = -54,       // nothing to deliver
  // -70..-79: saved state.
  kBadState = -70,      // text that is not a state, or of another version
  kStateRefused = -71,  // a state of another dataset or configuration
  // -80..-89: the accelerator.
  kNoDevice = -80,
  kDeviceLost = -81,
  // -99: a defect of the library.
  kInternal = -99,
};

std::string_view code_name(Code code);  // "DL_ERR_CORRUPT"

// Two words, because each batch passes a dozen of them; what an error says beyond its code is on the heap.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;
  Status(const Status& other);
  Status& operator=(const Status& other) { return *this = Status(other); }

  static Status ok() { return Status(); }

  bool is_ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  std::string message() const { return std::string(text()); }
  // The message without a copy, where nothing may be allocated; until the status changes.
  std::string_view text() const noexcept { return details_ ? details_->message : std::string_view(); }
  int32_t os_error() const { return details_ ? details_->os_error : 0; }            // errno, or 0
  int64_t sample_index() const { return details_ ? details_->sample_index : -1; }   // -1: none
  int64_t sample_source() const { return details_ ? details_->sample_source : 0; }  // the part of a mix
  // 1-based, in text the caller gave; 0: none
  int64_t column() const { return details_ ? details_->column : 0; }

  Status&& with_os_error(int32_t value) && {
    details().os_error = value;
    return std::move(*this);
  }
  Status&& with_sample(int64_t index, int64_t source = 0) && {
    details().sample_index = index;
    details().sample_source = source;
    return std::move(*this);
  }
  Status&& with_column(int64_t value) && {
    details().column = value;
    return std::move(*this);
  }
  // Prepends "context: " to the message.
  Status&& in(std::string_view context) &&;

 private:
  struct Details {
    std::string message;
    int64_t sample_index = -1;
    int64_t sample_source = 0;
    int64_t column = 0;
    int32_t os_error = 0;
  };
  // Not inline: a status ends at thousands of places, and at few of them with anything to free.
  struct Free {
    void operator()(Details* details) const noexcept;
  };
  Details& details();

  Code code_ = Code::kOk;
  std::unique_ptr<Details, Free> details_;  // null: nothing is said
};

// A part of a message: text, which it borrows, or a whole number. Two words.
class MessagePart {
 public:
  // All are implicit on purpose.
  MessagePart(std::string_view text) : text_(text.data()), value_(text.size()) {}    // NOLINT
  MessagePart(const std::string& text) : text_(text.data()), value_(text.size()) {}  // NOLINT
  MessagePart(const char* text) : MessagePart(std::string_view(text)) {}             // NOLINT
  MessagePart(char c) : text_(kChar), value_(static_cast<unsigned char>(c)) {}       // NOLINT
  template <typename Int>
  requires std::is_integral_v<Int> MessagePart(Int value)  // NOLINT
      : text_(std::is_signed_v<Int> ? kSigned : kUnsigned), value_(static_cast<uint64_t>(value)) {}

  void append_to(std::string& out) const;

 private:
  static const char kChar[1], kSigned[1], kUnsigned[1];  // instead of a text: what the value is

  const char* text_;
  uint64_t value_;  // of a text its length
};

std::string concat_parts(std::span<const MessagePart> parts);
Status error_of(Code code, std::span<const MessagePart> parts);
Status no_value();  // of a Result that was made of an ok status: a defect

// All parts, one after another. At each of its hundreds of places the compiler makes an array of parts, and one call.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    return {};
  } else {
    const MessagePart all[] = {MessagePart(parts)...};
    return concat_parts(all);
  }
}

// The parts are the message: one line, no full stop.
template <typename... Parts>
Status error(Code code, const Parts&... parts) {
  const MessagePart all[] = {MessagePart(parts)...};
  return error_of(code, all);
}

// A value, or why there is none: the status says which. Not a std::variant, which checks it at each access once more.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) { std::construct_at(&value_, std::move(value)); }  // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {               // NOLINT: never an ok status
    if (status_.is_ok()) [[unlikely]]
      status_ = no_value();
  }
  Result(Result&& other) noexcept : status_(std::move(other.status_)) {
    if (is_ok()) std::construct_at(&value_, std::move(other.value_));
  }
  Result& operator=(Result&& other) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    if (this == &other) return *this;
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~Result() {
    if (is_ok()) std::destroy_at(&value_);
  }

  bool is_ok() const { return status_.is_ok(); }
  const Status& status() const { return status_; }
  Status take_status() { return std::move(status_); }  // only when !is_ok()
  T& value() { return value_; }                        // only when is_ok()
  const T& value() const { return value_; }
  T take() { return std::move(value_); }

 private:
  Status status_;
  union {
    T value_;
  };
};

// The failed rows of one run, each with its first error. Costs nothing until a row fails.
struct RowError {
  int64_t row;  // within the run
  Status status;
};

class RowErrors {
 public:
  void fail(int64_t row, Status status) {
    if (!failed(row)) errors_.push_back({row, std::move(status)});
  }
  bool failed(int64_t row) const {
    for (const RowError& error : errors_) {
      if (error.row == row) return true;
    }
    return false;
  }
  bool empty() const { return errors_.empty(); }
  std::vector<RowError>& all() { return errors_; }
  const std::vector<RowError>& all() const { return errors_; }
  void clear() { errors_.clear(); }

 private:
  std::vector<RowError> errors_;
};

// Assertions for what only a bug in this library can break, never input or the machine. Debug and sanitized builds
// trap. A release build continues, because a library must not end its host's process: the caller must then leave the
// object alone and report Code::kInternal.
#if defined(DATALINE_STOP_AT_DEFECTS)
constexpr bool kStopsAtDefects = true;
#else
constexpr bool kStopsAtDefects = false;
#endif

// Returns `holds`; traps when it is false and kStopsAtDefects.
[[nodiscard]] inline bool check_or_trap(bool holds) {
  if (kStopsAtDefects && !holds) __builtin_trap();
  return holds;
}

}  // namespace dataline

// Returns the error of a Status expression from the enclosing function.
#define DL_RETURN_IF_ERROR(expression)            \
  do {                                            \
    ::dataline::Status dl_status_ = (expression); \
    if (!dl_status_.is_ok()) return dl_status_;   \
  } while (false)

// DL_ASSIGN_OR_RETURN(auto x, f()): binds the value of a Result, or returns its error.
#define DL_ASSIGN_OR_RETURN(target, expression) \
  DL_ASSIGN_OR_RETURN_AT(DL_JOIN(dl_result_, __LINE__), target, expression)
#define DL_ASSIGN_OR_RETURN_AT(name, target, expression) \
  auto name = (expression);                              \
  if (!name.is_ok()) return name.take_status();          \
  target = name.take()
#define DL_JOIN(a, b) DL_JOIN_AGAIN(a, b)
#define DL_JOIN_AGAIN(a, b) a##b
