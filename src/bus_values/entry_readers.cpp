// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/entry_readers.hpp"

#include "base/escape.hpp"

#include <fcntl.h>

namespace pinfold {
namespace {

constexpr std::size_t kMaxText = 65'536;

Error invalid(const std::string& what) { return {ErrorCode::InvalidArgument, what}; }

/// In sdbus-c++ 2.x, peekValueType() returns a pointer to the name of the type. If typeOf() returned a pointer, the operator ==
/// would compare addresses in place of names.
std::string typeOf(const sdbus::Variant& value) { return value.peekValueType(); }

Error wrongType(const std::string& name, const sdbus::Variant& value, const char* expected) {
    return invalid("entry '" + name + "' has type " + typeOf(value) + ": " + expected + " is expected");
}

} // namespace

bool saysUnknownEntry(const Error& error) {
    return error.code == ErrorCode::InvalidArgument &&
           (error.message.starts_with(kUnknownEntry) || error.message.find(kUnknownType) != std::string::npos);
}

Result<void> readEntries(const Dict& dict, const EntryReaders& readers) {
    for (const auto& [name, value] : dict) {
        const auto reader = readers.find(name);
        if (reader == readers.end())
            return invalid(kUnknownEntry + printable(name, 100) + "': see org.pinfold1(5)");
        if (auto read = reader->second(value); !read)
            return read;
    }
    return {};
}

Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value) {
    const auto type = typeOf(value);
    std::int64_t number = 0;
    if (type == "t")
        return value.get<std::uint64_t>();
    if (type == "u")
        return value.get<std::uint32_t>();
    if (type == "q")
        return value.get<std::uint16_t>();
    if (type == "y")
        return value.get<std::uint8_t>();
    if (type == "x")
        number = value.get<std::int64_t>();
    else if (type == "i")
        number = value.get<std::int32_t>();
    else if (type == "n")
        number = value.get<std::int16_t>();
    else
        return wrongType(name, value, "a number (t)");
    if (number < 0)
        return invalid("entry '" + name + "' is negative: " + std::to_string(number));
    return static_cast<std::uint64_t>(number);
}

Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value, std::uint64_t least, std::uint64_t most) {
    auto number = toNumber(name, value);
    if (number && (*number < least || *number > most))
        return invalid("entry '" + name + "' is " + std::to_string(*number) + ": use " + std::to_string(least) + " to " +
                       std::to_string(most));
    return number;
}

Result<std::string> toText(const std::string& name, const sdbus::Variant& value) {
    if (typeOf(value) != "s")
        return wrongType(name, value, "a string (s)");
    auto text = value.get<std::string>();
    if (text.size() > kMaxText)
        return invalid("entry '" + name + "' is longer than 64 KiB: use a shorter string");
    return text;
}

Result<void> readFlag(const std::string& name, const sdbus::Variant& value, bool& flag) {
    if (typeOf(value) != "b")
        return wrongType(name, value, "a boolean (b)");
    flag = value.get<bool>();
    return {};
}

EntryReader readerOf(const char* name, std::vector<std::string>& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        if (typeOf(value) != "as")
            return wrongType(name, value, "a list of strings (as)");
        member = value.get<std::vector<std::string>>();
        return {};
    };
}

EntryReader readerOf(const char* name, std::map<std::string, std::string>& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        if (typeOf(value) != "a{ss}")
            return wrongType(name, value, "a dictionary of strings (a{ss})");
        member = value.get<std::map<std::string, std::string>>();
        return {};
    };
}

Result<UniqueFd> toDescriptor(const std::string& name, const sdbus::Variant& value) {
    if (typeOf(value) != "h")
        return wrongType(name, value, "a descriptor (h)");
    return takeFd(value.get<sdbus::UnixFd>());
}

UniqueFd takeFd(const sdbus::UnixFd& fd) { return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)); }

} // namespace pinfold
