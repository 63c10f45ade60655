// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the options of a request entry by entry. The functions of entry_readers.hpp check every entry, and refuse an entry that
// has no reader. If an entry is wrong, the functions return the error InvalidArgument with the name of the entry.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bus_values/dict.hpp"
#include "model/set_limit.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinfold {

using EntryReader = std::function<Result<void>(const sdbus::Variant&)>;
using EntryReaders = std::map<std::string, EntryReader>;

/// The beginning of the error message about an entry that pinfoldd does not know.
constexpr const char* kUnknownEntry = "unknown entry '";
/// A part of the error message about a value whose D-Bus type does not fit any known entry.
constexpr const char* kUnknownType = ", but no entry has this type";
/// Returns true if pinfoldd has refused a call because pinfoldd is too old to know an entry. Newer programs compare the errors of
/// an older pinfoldd with kUnknownEntry and kUnknownType, so kUnknownEntry and kUnknownType must not change.
bool saysUnknownEntry(const Error& error);

/// Passes each entry of the dictionary to the reader with the same name.
Result<void> readEntries(const Dict& dict, const EntryReaders& readers);

/// Reads an entry with a number. toNumber() accepts every integer type of D-Bus, because clients in different languages send
/// numbers with different types.
Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value);
Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value, std::uint64_t least, std::uint64_t most);
/// Reads an entry with a text of at most 64 KiB.
Result<std::string> toText(const std::string& name, const sdbus::Variant& value);
Result<void> readFlag(const std::string& name, const sdbus::Variant& value, bool& flag);
Result<UniqueFd> toDescriptor(const std::string& name, const sdbus::Variant& value);
/// Duplicates a file descriptor from a D-Bus message, and returns the duplicate. takeFd() itself sets FD_CLOEXEC in the
/// duplicate, because sdbus-c++ does not set FD_CLOEXEC.
UniqueFd takeFd(const sdbus::UnixFd& fd);

template <class T> Result<void> assign(Result<std::uint64_t> number, std::optional<T>& member) {
    if (!number)
        return number.error();
    if constexpr (kIsTime<T>)
        member = fromUsec<T>(*number);
    else
        member = static_cast<T>(*number);
    return {};
}

inline Result<void> assign(Result<std::string> text, std::optional<std::string>& member) {
    if (!text)
        return text.error();
    member = std::move(*text);
    return {};
}

/// Returns a reader that stores the value of the entry `name` in `member`.
template <class T> EntryReader readerOf(const char* name, std::optional<T>& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        if constexpr (kIsNumber<std::optional<T>> || kIsTime<T>) {
            return assign(toNumber(name, value), member);
        } else {
            const auto text = toText(name, value);
            return text ? setLimitText(*text, member) : Result<void>(text.error());
        }
    };
}

inline EntryReader readerOf(const char* name, bool& member) {
    return [name, &member](const sdbus::Variant& value) { return readFlag(name, value, member); };
}

EntryReader readerOf(const char* name, std::vector<std::string>& member);
EntryReader readerOf(const char* name, std::map<std::string, std::string>& member);

template <class Fd>
requires std::is_constructible_v<Fd, UniqueFd> EntryReader readerOf(const char* name, Fd& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        auto fd = toDescriptor(name, value);
        if (!fd)
            return fd.error();
        member = Fd(std::move(*fd));
        return {};
    };
}

} // namespace pinfold
