// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>

namespace pinfold {
namespace {

// A double holds every integer up to here exactly; larger fractions make no sense.
constexpr double kMaxExact = 9007199254740992.0;

Error invalid(const char* what, std::string_view text, const char* allowed) {
    return {ErrorCode::InvalidArgument, std::string(what) + " '" + printable(text, 100) + "' is not valid: use " + allowed};
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// Takes a decimal number with an optional fraction off the front.
std::optional<double> takeNumber(std::string_view& text) {
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0)
        return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<std::uint64_t> scale(double value, double factor) {
    const double scaled = std::round(value * factor);
    if (!(scaled >= 0) || scaled > kMaxExact)
        return std::nullopt;
    return static_cast<std::uint64_t>(scaled);
}

struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array kDurationUnits{Unit{"usec", 1},         Unit{"us", 1},          Unit{"µs", 1},        Unit{"msec", 1e3},
                                    Unit{"ms", 1e3},         Unit{"seconds", 1e6},   Unit{"second", 1e6},  Unit{"sec", 1e6},
                                    Unit{"s", 1e6},          Unit{"minutes", 6e7},   Unit{"minute", 6e7},  Unit{"min", 6e7},
                                    Unit{"m", 6e7},          Unit{"hours", 3.6e9},   Unit{"hour", 3.6e9},  Unit{"hr", 3.6e9},
                                    Unit{"h", 3.6e9},        Unit{"days", 8.64e10},  Unit{"day", 8.64e10}, Unit{"d", 8.64e10},
                                    Unit{"weeks", 6.048e11}, Unit{"week", 6.048e11}, Unit{"w", 6.048e11},  Unit{"", 1e6}};

constexpr const char* kDurationForms = "\"90\" (seconds), \"1.5s\", \"250ms\", \"2h 30min\", \"1d\" or \"infinity\"";

std::optional<double> durationFactor(std::string_view unit) {
    for (const auto& known : kDurationUnits)
        if (known.name == unit)
            return known.factor;
    return std::nullopt;
}

} // namespace

Result<std::uint64_t> parseSize(std::string_view text) {
    constexpr const char* forms = "bytes, or a number with K, M, G, T or P (powers of 1024), or \"infinity\"";
    constexpr std::string_view suffixes = "KMGTP";
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kInfinity;
    std::uint64_t whole = 0;
    if (const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
        error == std::errc{} && end == rest.data() + rest.size() && whole != kInfinity)
        return whole;
    const auto number = takeNumber(rest);
    if (!number)
        return invalid("size", text, forms);
    rest = trim(rest);
    double factor = 1;
    if (!rest.empty()) {
        const auto index = suffixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(rest.front()))));
        if (index != std::string_view::npos) {
            factor = std::ldexp(1.0, 10 * (static_cast<int>(index) + 1));
            rest.remove_prefix(1);
        }
        if (!rest.empty() && !equalsIgnoringCase(rest, "B") && !(factor > 1 && equalsIgnoringCase(rest, "iB")))
            return invalid("size", text, forms);
    }
    const auto bytes = scale(*number, factor);
    return bytes ? Result<std::uint64_t>(*bytes) : invalid("size", text, forms);
}

Result<std::uint64_t> parseDuration(std::string_view text) {
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kInfinity;
    if (rest.empty())
        return invalid("duration", text, kDurationForms);
    std::uint64_t total = 0;
    while (!rest.empty()) {
        const auto number = takeNumber(rest);
        if (!number)
            return invalid("duration", text, kDurationForms);
        rest = trim(rest);
        std::size_t length = 0;
        while (length < rest.size() && std::isdigit(static_cast<unsigned char>(rest[length])) == 0 && rest[length] != ' ')
            ++length;
        const auto factor = durationFactor(rest.substr(0, length));
        const auto part = factor ? scale(*number, *factor) : std::nullopt;
        if (!part || total + *part < total)
            return invalid("duration", text, kDurationForms);
        total += *part;
        rest = trim(rest.substr(length));
    }
    return total;
}

Result<std::uint64_t> parseCpuQuota(std::string_view text) {
    constexpr const char* forms = "a percentage of one CPU such as \"150%\", or \"infinity\"";
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kInfinity;
    const auto number = takeNumber(rest);
    const auto usec = number && rest == "%" ? scale(*number, 1e4) : std::nullopt;
    return usec ? Result<std::uint64_t>(*usec) : invalid("CPU quota", text, forms);
}

Result<std::uint64_t> parseUnsigned(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return invalid("number", text, "decimal digits");
    return value;
}

Result<int> parseSignal(std::string_view text) {
    if (const auto number = parseUnsigned(text)) {
        if (*number >= 1 && *number <= static_cast<std::uint64_t>(SIGRTMAX))
            return static_cast<int>(*number);
        return invalid("signal", text, "a name such as TERM, or 1 to 64");
    }
    auto name = text;
    if (name.size() > 3 && equalsIgnoringCase(name.substr(0, 3), "SIG"))
        name.remove_prefix(3);
    for (int signal = 1; signal < NSIG; ++signal)
        if (const char* known = sigabbrev_np(signal); known && equalsIgnoringCase(name, known))
            return signal;
    if (equalsIgnoringCase(name, "RTMIN"))
        return SIGRTMIN;
    if (equalsIgnoringCase(name, "RTMAX"))
        return SIGRTMAX;
    if (const auto offset = parseUnsigned(name.substr(std::min<std::size_t>(6, name.size())));
        offset && *offset <= static_cast<unsigned>(SIGRTMAX - SIGRTMIN)) {
        if (equalsIgnoringCase(name.substr(0, 6), "RTMIN+"))
            return SIGRTMIN + static_cast<int>(*offset);
        if (equalsIgnoringCase(name.substr(0, 6), "RTMAX-"))
            return SIGRTMAX - static_cast<int>(*offset);
    }
    return invalid("signal", text, "a name such as TERM, or 1 to 64");
}

std::string signalName(int signal) {
    if (const char* name = sigabbrev_np(signal))
        return std::string("SIG") + name;
    return "signal " + std::to_string(signal);
}

std::string formatSize(std::uint64_t bytes) {
    if (bytes == kInfinity)
        return "infinity";
    constexpr std::string_view suffixes = "KMGTPE";
    if (bytes < 1024)
        return std::to_string(bytes);
    double value = static_cast<double>(bytes);
    std::size_t index = 0;
    for (value /= 1024; value >= 1023.95 && index + 1 < suffixes.size(); ++index)
        value /= 1024;
    const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
    auto text = std::to_string(tenths / 10);
    if (tenths % 10 != 0)
        text += "." + std::to_string(tenths % 10);
    return text + suffixes[index];
}

std::string formatDuration(std::uint64_t usec) {
    if (usec == kInfinity)
        return "infinity";
    struct Step {
        std::uint64_t size;
        const char* name;
    };
    constexpr std::array steps{Step{86'400'000'000, "d"}, Step{3'600'000'000, "h"}, Step{60'000'000, "min"},
                               Step{1'000'000, "s"},      Step{1'000, "ms"},        Step{1, "us"}};
    std::string text;
    int parts = 0;
    for (const auto& step : steps) {
        if (const auto count = usec / step.size; count > 0 && parts < 2) {
            text += (text.empty() ? "" : " ") + std::to_string(count) + step.name;
            usec %= step.size;
        } else if (parts == 0) {
            continue;
        }
        ++parts;
    }
    return text.empty() ? "0" : text;
}

std::string formatUtc(std::uint64_t realtimeUsec) {
    const auto seconds = static_cast<std::time_t>(realtimeUsec / 1'000'000);
    std::tm parts{};
    std::array<char, 32> buffer{};
    if (!gmtime_r(&seconds, &parts) || std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return "?";
    return buffer.data();
}

} // namespace pinfold
