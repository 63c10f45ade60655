// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <utility>

namespace pinfold {

/// Acts like std::optional, but an unset value needs no more memory than a pointer. Use Boxed for a large member that most
/// objects leave unset. For example, Boxed can hold a job's figures, which pinfoldd knows only after the job's end.
template <class T> class Boxed {
public:
    Boxed() = default;
    Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {} // the constructor is implicit, as in std::optional
    Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    explicit operator bool() const { return bool(value_); }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }
    T& emplace() { return *(value_ = std::make_unique<T>()); }
    void reset() { value_.reset(); }

    bool operator==(const Boxed& other) const {
        return value_ && other.value_ ? *value_ == *other.value_ : !value_ && !other.value_;
    }

private:
    std::unique_ptr<T> value_;
};

} // namespace pinfold
