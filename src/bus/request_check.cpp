// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/request_check.hpp"

#include "base/escape.hpp"
#include "bus_values/entry_readers.hpp"

#include <fmt/core.h>

#include <systemd/sd-bus.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

constexpr std::size_t kMaxEntries = 64;
constexpr std::size_t kMaxListed = 8192; // a list can be long, for example the list of a job's hosts
// dbus-daemon passes at most 16 descriptors in one message, but a list can name one descriptor many times.
constexpr std::size_t kMaxDescriptors = 16;

Error invalid(std::string what) { return {ErrorCode::InvalidArgument, std::move(what)}; }

Error unreadable() { return invalid("the message cannot be read: see org.pinfold1(5) for its types"); }

bool isList(std::string_view type) { return type == "as" || type == "a{ss}"; }

/// Checks an entry that is a list of strings or a dictionary of strings, and moves the read position behind the entry.
Result<void> checkList(sd_bus_message* message, const char* key, const std::string& type) {
    const auto contents = type.substr(1);
    if (sd_bus_message_enter_container(message, SD_BUS_TYPE_VARIANT, type.c_str()) < 0 ||
        sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, contents.c_str()) < 0)
        return unreadable();
    for (std::size_t count = 0; sd_bus_message_at_end(message, 0) == 0;) {
        if (sd_bus_message_skip(message, contents.c_str()) < 0)
            return unreadable();
        if (++count > kMaxListed)
            return invalid(fmt::format("entry '{}' has more than 8192 values: give fewer", printable(key, 100)));
    }
    return sd_bus_message_exit_container(message) < 0 || sd_bus_message_exit_container(message) < 0 ? unreadable()
                                                                                                    : Result<void>();
}

Result<void> checkEntry(sd_bus_message* message, std::vector<std::string_view>& seen) {
    const char* key = nullptr;
    const char* type = nullptr;
    if (sd_bus_message_read_basic(message, SD_BUS_TYPE_STRING, &key) < 0 ||
        sd_bus_message_peek_type(message, nullptr, &type) <= 0)
        return unreadable();
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
        return invalid(fmt::format("entry '{}' occurs more than once: give it once", printable(key, 100)));
    const std::string known = type; // `type` is valid only until the next call of sd_bus_message_peek_type()
    if (!isList(known) && (known.size() != 1 || *type == SD_BUS_TYPE_VARIANT))
        return invalid(fmt::format("entry '{}' has type {}{}: see org.pinfold1(5)", printable(key, 100), printable(type, 100),
                                   kUnknownType));
    seen.emplace_back(key);
    if (seen.size() > kMaxEntries)
        return invalid("a dictionary has more than 64 entries: see org.pinfold1(5)");
    if (isList(known))
        return checkList(message, key, known);
    return sd_bus_message_skip(message, "v") < 0 ? unreadable() : Result<void>();
}

Result<void> checkDictionary(sd_bus_message* message) {
    std::vector<std::string_view> seen; // each string_view refers to text inside the message
    if (sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "{sv}") < 0)
        return unreadable();
    while (sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, "sv") > 0) {
        if (auto checked = checkEntry(message, seen); !checked)
            return checked;
        if (sd_bus_message_exit_container(message) < 0)
            return unreadable();
    }
    return sd_bus_message_exit_container(message) < 0 ? unreadable() : Result<void>();
}

Result<void> checkDescriptors(sd_bus_message* message) {
    if (sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "h") < 0)
        return unreadable();
    int fd = -1;
    for (std::size_t count = 0; sd_bus_message_read_basic(message, SD_BUS_TYPE_UNIX_FD, &fd) > 0;)
        if (++count > kMaxDescriptors)
            return invalid("the call passes more than 16 processes: use several calls");
    return sd_bus_message_exit_container(message) < 0 ? unreadable() : Result<void>();
}

} // namespace

Result<void> checkRequest(sd_bus_message* message) {
    char type = 0;
    const char* contents = nullptr;
    while (sd_bus_message_peek_type(message, &type, &contents) > 0) {
        Result<void> checked;
        if (type != SD_BUS_TYPE_ARRAY)
            checked = sd_bus_message_skip(message, std::string(1, type).c_str()) < 0 ? unreadable() : Result<void>();
        else if (std::string_view(contents) == "{sv}")
            checked = checkDictionary(message);
        else if (std::string_view(contents) == "h")
            checked = checkDescriptors(message);
        else
            return invalid(fmt::format("an argument has type a{}, but no method takes this type: see org.pinfold1(5)",
                                       printable(contents, 100)));
        if (!checked)
            return checked;
    }
    return {};
}

} // namespace pinfold
