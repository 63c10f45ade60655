// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the field notAfter of an X.509 certificate (RFC 5280, section 4.1). A certificate is a tree of elements. Each element
// begins with its tag and its length, in the encoding DER (X.690).
#include "doctor/certificate_expiry.hpp"

#include "base/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pinfold::doctor {
namespace {

constexpr Microseconds kDay = 24h;
constexpr Microseconds kRenewal = 30 * kDay; ///< if a certificate expires in less than the time kRenewal, the doctor warns

// The tags of the elements.
constexpr unsigned char kInteger = 0x02;
constexpr unsigned char kUtcTime = 0x17;
constexpr unsigned char kGeneralizedTime = 0x18;
constexpr unsigned char kSequence = 0x30;
constexpr unsigned char kVersion = 0xa0;

/// Returns the bytes that the base64 text stands for, up to the first character that neither is a digit of base64 nor a line
/// break.
std::string fromBase64(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0; // the number of bits in `bits` that are not in `bytes` yet
    for (const char c : text) {
        if (c == '\n' || c == '\r')
            continue;
        const auto digit = digits.find(c);
        if (digit == std::string_view::npos)
            break;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>((bits >> count) & 0xff);
        }
    }
    return bytes;
}

/// Takes elements from the beginning of a sequence of elements, one after the other.
class Elements {
public:
    explicit Elements(std::string_view bytes) : rest_(bytes) {}

    /// Returns the tag of the next element, or 0 if there is no further element.
    unsigned char tag() const { return rest_.empty() ? 0 : static_cast<unsigned char>(rest_.front()); }

    /// Returns the content of the next element. If the next element does not have the tag `tag`, or is not complete, the result
    /// is nullopt.
    std::optional<std::string_view> take(unsigned char tag) {
        if (this->tag() != tag || rest_.size() < 2)
            return std::nullopt;
        std::size_t length = byte(1);
        std::size_t begin = 2;
        if (length >= 0x80) { // the following bytes contain the length, and this byte contains the number of these bytes
            const auto count = length - 0x80;
            if (count > 4 || rest_.size() < begin + count)
                return std::nullopt;
            length = 0;
            for (; begin < 2 + count; ++begin)
                length = (length << 8) | byte(begin);
        }
        if (length > rest_.size() - begin)
            return std::nullopt;
        const auto content = rest_.substr(begin, length);
        rest_.remove_prefix(begin + length);
        return content;
    }

private:
    std::size_t byte(std::size_t index) const { return static_cast<unsigned char>(rest_[index]); }

    std::string_view rest_;
};

/// Reads the digits of a time, such as 20261127090651Z. A UTCTime has two digits for the year, and means a year from 1950 to
/// 2049.
std::optional<RealTime> readTime(std::string_view text, bool shortYear) {
    const std::size_t digits = shortYear ? 12 : 14;
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    if (text.size() != digits + 1 || text.back() != 'Z' || !std::ranges::all_of(text.substr(0, digits), isDigit))
        return std::nullopt;
    const auto take = [&text](std::size_t count) {
        int number = 0;
        for (const char c : text.substr(0, count))
            number = number * 10 + (c - '0');
        text.remove_prefix(count);
        return number;
    };
    int year = take(shortYear ? 2 : 4);
    if (shortYear)
        year += year < 50 ? 2000 : 1900;
    const auto month = static_cast<unsigned>(take(2));
    const auto day = static_cast<unsigned>(take(2));
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (!date.ok())
        return std::nullopt;
    const auto hours = take(2);
    const auto minutes = take(2);
    const auto seconds = take(2);
    const std::chrono::seconds sinceEpoch = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hours) +
                                            std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
    return RealTime(std::max<std::chrono::seconds>(sinceEpoch, 0s));
}

} // namespace

std::optional<RealTime> certificateExpiry(std::string_view pem) {
    constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----";
    const auto place = pem.find(begin);
    if (place == std::string_view::npos)
        return std::nullopt;
    const auto bytes = fromBase64(pem.substr(place + begin.size()));
    const auto certificate = Elements(bytes).take(kSequence);
    if (!certificate)
        return std::nullopt;
    const auto signedPart = Elements(*certificate).take(kSequence);
    if (!signedPart)
        return std::nullopt;
    Elements fields(*signedPart);
    if (fields.tag() == kVersion && !fields.take(kVersion))
        return std::nullopt;
    // The fields before the period of validity are the serial number, the algorithm of the signature, and the issuer.
    if (!fields.take(kInteger) || !fields.take(kSequence) || !fields.take(kSequence))
        return std::nullopt;
    const auto validity = fields.take(kSequence);
    if (!validity)
        return std::nullopt;
    Elements times(*validity);
    if (!times.take(times.tag())) // notBefore
        return std::nullopt;
    const bool shortYear = times.tag() == kUtcTime;
    const auto notAfter = times.take(shortYear ? kUtcTime : kGeneralizedTime);
    return notAfter ? readTime(*notAfter, shortYear) : std::nullopt;
}

void addCertificate(Findings& findings, RealTime expires, RealTime now, const std::string& program) {
    const auto remedy = fmt::format("renew the certificate; {} uses the new one at its next connection", program);
    if (expires <= now) {
        findings.fail("archive.certificate", "the certificate of this node has expired", remedy);
        return;
    }
    const auto left = expires - now;
    const auto found = fmt::format("the certificate of this node expires in {}", counted(left / kDay, "day", "days"));
    if (left < kRenewal)
        findings.warn("archive.certificate", found, remedy);
    else
        findings.ok("archive.certificate", found);
}

} // namespace pinfold::doctor
