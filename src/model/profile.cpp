// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/profile.hpp"

#include "base/enum_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pinfold {
namespace {

constexpr auto kMeasureNames = enumNames<Measure>({
    {Measure::Anon, "anon"},
    {Measure::Shmem, "shmem"},
    {Measure::Cache, "cache"},
    {Measure::Cpu, "cpu"},
    {Measure::Io, "io"},
    {Measure::Tasks, "tasks"},
    {Measure::MemoryPressure, "memory_pressure"},
});

// encode() first writes a header with the version, the number of points and the step of the profile. After the header, encode()
// writes the lengths of all points. After the lengths, encode() writes the measures of all points. encode() stores a number n in
// 12 bits, as 64 * log2(n + 1). With 12 bits for each number, 120 points take 3,006 bytes. With floating-point numbers of 16
// bits, 120 points would take more than 3 KiB.
constexpr char kVersion = 1;
constexpr std::size_t kHeaderBytes = 6;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kNumbers = 2 * kMeasures; // of one point
constexpr double kStepsPerOctave = 64;
constexpr std::uint32_t kMostCode = 0xfff;

constexpr std::size_t bytesOf(std::size_t points) {
    return kHeaderBytes + points * kLengthBytes + (points * kNumbers * 3 + 1) / 2;
}
static_assert(bytesOf(Profile::kMostPoints) <= Profile::kMostBytes);

std::uint32_t codeOf(float value) {
    const auto code = std::log2(std::max(static_cast<double>(value), 0.0) + 1) * kStepsPerOctave;
    return static_cast<std::uint32_t>(std::lround(std::min<double>(code, kMostCode)));
}

float valueOf(std::uint32_t code) { return static_cast<float>(std::exp2(code / kStepsPerOctave) - 1); }

void putNumber(std::string& out, std::uint32_t number) {
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        out += static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint32_t numberAt(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return number;
}

std::uint32_t milliseconds(Microseconds time) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((time + 500us) / 1ms, std::numeric_limits<std::uint32_t>::max()));
}

/// Returns the group of 12 bits at the position `index`.
std::uint32_t codeAt(std::string_view packed, std::size_t index) {
    const auto at = index * 3 / 2;
    const auto low = static_cast<std::uint32_t>(static_cast<unsigned char>(packed[at]));
    const auto high = static_cast<std::uint32_t>(static_cast<unsigned char>(packed[at + 1]));
    return index % 2 == 0 ? low | (high & 0xf) << 8 : low >> 4 | high << 4;
}

std::string packed(const std::vector<std::uint32_t>& codes) {
    std::string out;
    for (std::size_t i = 0; i < codes.size(); i += 2) {
        const auto second = i + 1 < codes.size() ? codes[i + 1] : 0;
        out += static_cast<char>(codes[i] & 0xff);
        out += static_cast<char>(codes[i] >> 8 | (second & 0xf) << 4);
        if (i + 1 < codes.size())
            out += static_cast<char>(second >> 4);
    }
    return out;
}

void merge(ProfilePoint& into, const ProfilePoint& next) {
    const auto before = static_cast<double>(into.length.count());
    const auto after = static_cast<double>(next.length.count());
    into.length += next.length;
    for (std::size_t i = 0; i < kMeasures; ++i) {
        if (before + after > 0)
            into.mean[i] = static_cast<float>((into.mean[i] * before + next.mean[i] * after) / (before + after));
        into.most[i] = std::max(into.most[i], next.most[i]);
    }
}

} // namespace

std::string_view toString(Measure measure) { return kMeasureNames[measure]; }

void Profile::add(const ProfilePoint& point) {
    // pinfoldd looks at a job at irregular intervals, so the points of a profile cover times of different lengths. add() merges
    // `point` into the last point only if the merge brings the last point's length nearer to the step.
    if (step_ > 0s && points_.back().length + point.length / 2 <= step_)
        return merge(points_.back(), point);
    if (points_.size() == kMostPoints) {
        halve();
        return add(point);
    }
    points_.push_back(point);
}

void Profile::halve() {
    std::vector<Microseconds> lengths;
    for (std::size_t i = 0; i < points_.size() / 2; ++i) {
        points_[i] = points_[2 * i];
        merge(points_[i], points_[2 * i + 1]);
        lengths.push_back(points_[i].length);
    }
    points_.resize(points_.size() / 2);
    // The first points of a profile cover short times. If pinfoldd did not run for a while, one point of the profile covers the
    // whole outage. halve() uses the median length of the points as the new step. Very short and very long points of a profile
    // hardly change the median length of the points.
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    step_ = *middle;
}

Microseconds Profile::length() const {
    Microseconds sum{};
    for (const auto& point : points_)
        sum += point.length;
    return sum;
}

double Profile::meanOf(Measure measure) const {
    double area = 0;
    for (const auto& point : points_)
        area += point.meanOf(measure) * static_cast<double>(point.length.count());
    const auto time = static_cast<double>(length().count());
    return time > 0 ? area / time : 0;
}

double Profile::mostOf(Measure measure) const {
    double most = 0;
    for (const auto& point : points_)
        most = std::max(most, point.mostOf(measure));
    return most;
}

std::string encode(const Profile& profile) {
    std::string out{kVersion, static_cast<char>(profile.points_.size())};
    putNumber(out, milliseconds(profile.step_));
    std::vector<std::uint32_t> codes;
    codes.reserve(profile.points_.size() * kNumbers);
    for (const auto& point : profile.points_) {
        putNumber(out, milliseconds(point.length));
        for (const auto* values : {&point.mean, &point.most})
            std::ranges::transform(*values, std::back_inserter(codes), codeOf);
    }
    return out + packed(codes);
}

Result<Profile> decodeProfile(std::string_view bytes) {
    const auto count = bytes.size() >= kHeaderBytes ? static_cast<unsigned char>(bytes[1]) : std::size_t{0};
    if (bytes.size() < kHeaderBytes || bytes[0] != kVersion || count > Profile::kMostPoints || bytes.size() != bytesOf(count))
        return Error{ErrorCode::InvalidArgument, "the profile cannot be read: pinfold did not write it in this form"};
    Profile profile;
    profile.step_ = std::chrono::milliseconds(numberAt(bytes, 2));
    const auto numbers = bytes.substr(kHeaderBytes + count * kLengthBytes);
    for (std::size_t i = 0; i < count; ++i) {
        ProfilePoint point;
        point.length = std::chrono::milliseconds(numberAt(bytes, kHeaderBytes + i * kLengthBytes));
        for (std::size_t j = 0; j < kMeasures; ++j) {
            point.mean[j] = valueOf(codeAt(numbers, i * kNumbers + j));
            point.most[j] = valueOf(codeAt(numbers, i * kNumbers + kMeasures + j));
        }
        profile.points_.push_back(point);
    }
    if (profile.points_.empty()) // add() works only if the profile has a point or `step_` is 0
        profile.step_ = 0s;
    return profile;
}

} // namespace pinfold
