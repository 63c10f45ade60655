// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/duplicates.hpp"

#include <set>
#include <vector>

namespace pinfold {
namespace {

std::optional<std::string> repeatedInDict(sdbus::Message& message) {
    std::set<std::string> seen;
    std::optional<std::string> repeated;
    message.enterContainer("{sv}");
    while (message.enterDictEntry("sv")) {
        std::string key;
        sdbus::Variant value;
        message >> key >> value;
        if (!seen.insert(key).second && !repeated)
            repeated = key;
        message.exitDictEntry();
    }
    message.clearFlags();
    message.exitContainer();
    return repeated;
}

} // namespace

std::optional<std::string> repeatedEntry(sdbus::Message& message) {
    message.rewind(true);
    for (;;) {
        std::string type;
        std::string contents;
        message.peekType(type, contents);
        if (type.empty() || type == std::string(1, '\0'))
            return std::nullopt;
        if (type == "a" && contents == "{sv}")
            return repeatedInDict(message);
        // What stands before a dictionary in our methods: keys and pidfds.
        if (type == "s") {
            std::string text;
            message >> text;
        } else if (type == "h") {
            sdbus::UnixFd fd;
            message >> fd;
        } else {
            return std::nullopt;
        }
    }
}

} // namespace pinfold
