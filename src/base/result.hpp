// SPDX-License-Identifier: LGPL-2.1-or-later
// A function returns an Error as a value if the caller has to expect the failure. Exceptions of a library stay inside the code
// that calls the library.
#pragma once

#include "base/error_code.hpp"

#include <string>
#include <utility>
#include <variant>

namespace pinfold {

/// Describes a failure. The message says what went wrong, names the wrong value, and says what the user can do. The message is
/// one line without control characters.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
};

/// Holds either a value or an Error.
template <class T> class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}

    explicit operator bool() const { return ok_; }
    const Error& error() const { return error_; }

private:
    Error error_;
    bool ok_ = true;
};

} // namespace pinfold
