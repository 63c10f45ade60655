// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>

namespace pinfold {
namespace {

__extension__ typedef unsigned __int128 Wide;

Error invalid(const char* what, std::string_view text, const char* allowed) {
    return {ErrorCode::InvalidArgument, std::string(what) + " '" + printable(text, 100) + "' is not valid: use " + allowed};
}

constexpr std::string_view kSizeSuffixes = "KMGTPE";

char toUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// Holds a decimal number as the quotient of `digits` and `scale`. Decimal does not use floating-point numbers, because
/// floating-point numbers cannot hold all decimal numbers exactly. With floating-point numbers, pinfold-run would need the
/// library libm, too.
struct Decimal {
    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Reads the decimal number at the beginning of the text, and removes the number from the text. takeNumber() also accepts a
/// number with a fraction, such as "1.5".
std::optional<Decimal> takeNumber(std::string_view& text) {
    Decimal number;
    const char* const end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, number.digits);
    if (error != std::errc{})
        return std::nullopt;
    if (rest != end && *rest == '.') {
        const char* const point = rest;
        for (++rest; rest != end && isDigit(*rest); ++rest) {
            if (number.digits > (UINT64_MAX - 9) / 10 || number.scale > UINT64_MAX / 10)
                return std::nullopt;
            number.digits = number.digits * 10 + static_cast<std::uint64_t>(*rest - '0');
            number.scale *= 10;
        }
        if (rest == point + 1)
            return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return number;
}

/// Returns the product of the number and the factor, rounded to the nearest integer. Returns nullopt if the rounded product is
/// kInfinity or larger.
std::optional<std::uint64_t> times(const Decimal& number, std::uint64_t factor) {
    const Wide product = (Wide{number.digits} * factor + number.scale / 2) / number.scale;
    return product < kInfinity ? std::optional(static_cast<std::uint64_t>(product)) : std::nullopt;
}

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::uint64_t kMinute = 60'000'000;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kMonth = 2'629'800'000'000; // a month is a twelfth of a year of 365.25 days, as in systemd.time(7)

constexpr std::array kDurationUnits{Unit{"usec", 1},           Unit{"us", 1},           Unit{"µs", 1},
                                    Unit{"msec", 1'000},       Unit{"ms", 1'000},       Unit{"seconds", 1'000'000},
                                    Unit{"second", 1'000'000}, Unit{"sec", 1'000'000},  Unit{"s", 1'000'000},
                                    Unit{"minutes", kMinute},  Unit{"minute", kMinute}, Unit{"min", kMinute},
                                    Unit{"m", kMinute},        Unit{"hours", kHour},    Unit{"hour", kHour},
                                    Unit{"hr", kHour},         Unit{"h", kHour},        Unit{"days", kDay},
                                    Unit{"day", kDay},         Unit{"d", kDay},         Unit{"weeks", 7 * kDay},
                                    Unit{"week", 7 * kDay},    Unit{"w", 7 * kDay},     Unit{"months", kMonth},
                                    Unit{"month", kMonth},     Unit{"M", kMonth},       Unit{"years", 12 * kMonth},
                                    Unit{"year", 12 * kMonth}, Unit{"y", 12 * kMonth},  Unit{"", 1'000'000}};

constexpr const char* kDurationForms =
    "\"90\" (seconds), \"1.5s\", \"250ms\", \"2h 30min\", \"1:30:00\", \"1-06:00:00\", \"1d\" or \"infinity\"";

std::optional<std::uint64_t> durationFactor(std::string_view unit) {
    for (const auto& known : kDurationUnits)
        if (known.name == unit)
            return known.factor;
    return std::nullopt;
}

/// Reads a duration in the form "h:mm:ss" or "d-hh:mm:ss", and returns the number of microseconds. The form "1:30" is not
/// accepted, because "1:30" could mean 90 minutes or 90 seconds.
std::optional<std::uint64_t> clockTime(std::string_view text) {
    const auto dash = text.find('-');
    const bool hasDays = dash != text.npos;
    const auto days = hasDays ? parseUnsigned(text.substr(0, dash)) : Result<std::uint64_t>(0);
    const auto clock = hasDays ? text.substr(dash + 1) : text;
    const auto colon = clock.find(':');
    if (colon == clock.npos || clock.size() != colon + 6 || clock[colon + 3] != ':')
        return std::nullopt;
    const auto hours = parseUnsigned(clock.substr(0, colon));
    const auto minutes = parseUnsigned(clock.substr(colon + 1, 2));
    const auto seconds = parseUnsigned(clock.substr(colon + 4, 2));
    if (!days || !hours || !minutes || !seconds || *minutes > 59 || *seconds > 59 || (hasDays && *hours > 23))
        return std::nullopt;
    const Wide total = Wide{*days} * kDay + Wide{*hours} * kHour + Wide{*minutes} * kMinute + Wide{*seconds} * 1'000'000;
    return total < kInfinity ? std::optional(static_cast<std::uint64_t>(total)) : std::nullopt;
}

} // namespace

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

Result<std::uint64_t> parseSize(std::string_view text) {
    constexpr const char* forms = "bytes, or a number with K, M, G, T, P or E (powers of 1024), or \"infinity\"";
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kInfinity;
    const auto number = takeNumber(rest);
    if (!number)
        return invalid("size", text, forms);
    rest = trim(rest);
    const auto index = rest.empty() ? kSizeSuffixes.npos : kSizeSuffixes.find(toUpper(rest.front()));
    const bool hasSuffix = index != kSizeSuffixes.npos;
    if (hasSuffix)
        rest.remove_prefix(1);
    const bool unitKnown = rest.empty() || equalsIgnoringCase(rest, "B") || (hasSuffix && equalsIgnoringCase(rest, "iB"));
    const bool partOfAByte = !hasSuffix && number->scale != 1;
    const auto bytes = times(*number, hasSuffix ? std::uint64_t{1} << (10 * (index + 1)) : 1);
    return unitKnown && !partOfAByte && bytes ? Result<std::uint64_t>(*bytes) : invalid("size", text, forms);
}

Result<Microseconds> parseDuration(std::string_view text) {
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kForever;
    if (rest.empty())
        return invalid("duration", text, kDurationForms);
    if (rest.find(':') != rest.npos) {
        const auto time = clockTime(rest);
        return time ? fromUsec<Microseconds>(*time) : Result<Microseconds>(invalid("duration", text, kDurationForms));
    }
    std::uint64_t total = 0;
    while (!rest.empty()) {
        const auto number = takeNumber(rest);
        if (!number)
            return invalid("duration", text, kDurationForms);
        rest = trim(rest);
        std::size_t length = 0;
        while (length < rest.size() && !isDigit(rest[length]) && rest[length] != ' ')
            ++length;
        const auto factor = durationFactor(rest.substr(0, length));
        const auto part = factor ? times(*number, *factor) : std::nullopt;
        if (!part || *part >= kInfinity - total)
            return invalid("duration", text, kDurationForms);
        total += *part;
        rest = trim(rest.substr(length));
    }
    return fromUsec<Microseconds>(total);
}

Result<std::uint64_t> parseCpuQuota(std::string_view text) {
    constexpr const char* forms = "a percentage of one CPU such as \"150%\", or \"infinity\"";
    auto rest = trim(text);
    if (equalsIgnoringCase(rest, "infinity"))
        return kInfinity;
    const auto number = takeNumber(rest);
    const auto usec = number && rest == "%" ? times(*number, 10'000) : std::nullopt;
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
    if (bytes < 1024)
        return std::to_string(bytes);
    const auto tenths = [bytes](std::size_t index) {
        const Wide unit = Wide{1} << (10 * (index + 1));
        return static_cast<std::uint64_t>((Wide{bytes} * 10 + unit / 2) / unit);
    };
    std::size_t index = 0;
    while (tenths(index) >= 10'240 && index + 1 < kSizeSuffixes.size())
        ++index;
    auto text = std::to_string(tenths(index) / 10);
    if (tenths(index) % 10 != 0)
        text += "." + std::to_string(tenths(index) % 10);
    return text + kSizeSuffixes[index];
}

namespace {

/// Returns the text for a duration that is shorter than a minute. The text has one decimal place, as in "1.5s" and "2.5ms".
/// formatShort() leaves out the decimal place if the digit there would be 0. From 10 to 999 ms, the text never has a decimal
/// place.
std::string formatShort(Microseconds duration) {
    if (duration < 1ms)
        return duration == 0us ? "0" : std::to_string(duration.count()) + "us";
    const bool isSeconds = duration >= 1s;
    const Microseconds unit = isSeconds ? 1s : 1ms;
    const auto tenth = duration % unit * 10 / unit;
    const bool hasTenth = tenth > 0 && (isSeconds || duration < 10ms);
    return std::to_string(duration / unit) + (hasTenth ? "." + std::to_string(tenth) : "") + (isSeconds ? "s" : "ms");
}

} // namespace

std::string formatDuration(Microseconds duration) {
    if (duration == kForever)
        return "infinity";
    if (duration < 1min)
        return formatShort(duration);
    struct Step {
        Microseconds size;
        const char* name;
    };
    constexpr std::array steps{Step{24h, "d"}, Step{1h, "h"}, Step{1min, "min"}, Step{1s, "s"}};
    std::string text;
    int parts = 0;
    for (const auto& step : steps) {
        if (const auto count = duration / step.size; count > 0 && parts < 2) {
            text += (text.empty() ? "" : " ") + std::to_string(count) + step.name;
            duration %= step.size;
        } else if (parts == 0) {
            continue;
        }
        ++parts;
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
    return std::to_string(number).append(" ").append(number == 1 ? one : many);
}

std::string formatUtc(RealTime time) {
    const auto seconds = static_cast<std::time_t>(time.time_since_epoch() / 1s);
    std::tm parts{};
    std::array<char, 32> buffer{};
    if (!gmtime_r(&seconds, &parts) || std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return "?";
    return buffer.data();
}

} // namespace pinfold
