// SPDX-License-Identifier: LGPL-2.1-or-later
// The corpora contain dictionaries of D-Bus (a{sv}) as text, so that people can read and write the corpora. A line is "NAME TYPE
// VALUE". Several lines can have the same NAME. TYPE is the code of a basic type, or one of these codes: "as" (VALUE is words),
// "a{ss}" (words "KEY=WORD"), "a{sv}" (words "NAME:TYPE:VALUE") or "a(stttt)" (words "WORD:1:2:3:4").
#pragma once

#include "fuzz.hpp"
#include "systemd/sdbus_compat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

namespace pinfold::fuzz {

class DictionaryWriter {
public:
    explicit DictionaryWriter(sd_bus_message* message) : message_(message) {}

    /// Returns false if the text is not a dictionary, or if libsystemd refuses the dictionary.
    bool write(std::string_view text) {
        open(SD_BUS_TYPE_ARRAY, "{sv}");
        forEachLine(text, [this](std::string_view line) {
            const auto words = split(line, ' ', 3);
            if (words.size() == 3)
                entry(words[0], words[1], words[2]);
        });
        close();
        return good_;
    }

private:
    static std::vector<std::string> split(std::string_view text, char separator, std::size_t most = SIZE_MAX) {
        std::vector<std::string> parts;
        while (parts.size() + 1 < most) {
            const auto end = text.find(separator);
            if (end == std::string_view::npos)
                break;
            parts.emplace_back(text.substr(0, end));
            text.remove_prefix(end + 1);
        }
        parts.emplace_back(text);
        return parts;
    }
    static std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

    void open(char type, const char* contents) { check(sd_bus_message_open_container(message_, type, contents)); }
    void close() { check(sd_bus_message_close_container(message_)); }
    void check(int result) { good_ = good_ && result >= 0; }

    void entry(const std::string& name, const std::string& type, const std::string& value) {
        static const std::vector<std::string> known{"y", "b", "n", "q",  "i",     "u",     "x",       "t",
                                                    "d", "s", "h", "as", "a{ss}", "a{sv}", "a(stttt)"};
        if (!good_ || std::find(known.begin(), known.end(), type) == known.end())
            return;
        open(SD_BUS_TYPE_DICT_ENTRY, "sv");
        string(name);
        open(SD_BUS_TYPE_VARIANT, type.c_str());
        if (type.size() == 1)
            basic(type[0], value);
        else
            list(type.substr(1), value);
        close();
        close();
    }
    void list(const std::string& type, const std::string& value) {
        open(SD_BUS_TYPE_ARRAY, type.c_str());
        for (const auto& word : value.empty() ? std::vector<std::string>() : split(value, ' ')) {
            if (type == "s") {
                string(word);
            } else if (type == "{ss}") {
                const auto parts = split(word, '=', 2);
                open(SD_BUS_TYPE_DICT_ENTRY, "ss");
                string(parts.front());
                string(parts.back());
                close();
            } else if (const auto parts = split(word, ':', type == "{sv}" ? 3 : 5); type == "{sv}" && parts.size() == 3) {
                entry(parts[0], parts[1], parts[2]);
            } else if (type == "(stttt)" && parts.size() == 5) {
                open(SD_BUS_TYPE_STRUCT, "stttt");
                string(parts[0]);
                for (std::size_t i = 1; i < 5; ++i)
                    basic(SD_BUS_TYPE_UINT64, parts[i]);
                close();
            }
        }
        close();
    }
    void string(const std::string& text) { check(sd_bus_message_append_basic(message_, SD_BUS_TYPE_STRING, text.c_str())); }
    void basic(char type, const std::string& value) {
        const auto whole = number(value);
        const double fraction = std::strtod(value.c_str(), nullptr);
        const int boolean = whole != 0;
        static const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        switch (type) {
        case SD_BUS_TYPE_STRING:
            return string(value);
        case SD_BUS_TYPE_BOOLEAN:
            return check(sd_bus_message_append_basic(message_, type, &boolean));
        case SD_BUS_TYPE_DOUBLE:
            return check(sd_bus_message_append_basic(message_, type, &fraction));
        case SD_BUS_TYPE_UNIX_FD:
            return check(sd_bus_message_append_basic(message_, type, &null));
        default:
            // The machine is little-endian. If the type has fewer bytes than `whole`, sd-bus takes the lowest bytes of `whole`.
            check(sd_bus_message_append_basic(message_, type, &whole));
        }
    }

    sd_bus_message* message_;
    bool good_ = true;
};

// In sdbus-c++ 1.2, a program without a bus connection can get a message object only from a variant. The message is a private
// member of the variant. C++ allows an explicit instantiation of a template to name a private member, so MessageOfVariant can
// read the message.
template <auto Message> struct MessageOfVariant {
    friend sdbus::PlainMessage messageOf(const sdbus::Variant& variant) { return variant.*Message; }
};
sdbus::PlainMessage messageOf(const sdbus::Variant& variant);
template struct MessageOfVariant<&sdbus::Variant::msg_>;

/// Returns a message that contains the dictionary. The caller can read the returned message at once. Returns nullopt if the text
/// is not a dictionary.
inline std::optional<sdbus::PlainMessage> dictionaryMessage(std::string_view text) {
    auto message = messageOf(sdbus::Variant());
    if (!DictionaryWriter(dbus::rawMessage(message)).write(text))
        return std::nullopt;
    message.seal();
    return message;
}

} // namespace pinfold::fuzz
