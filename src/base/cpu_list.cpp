// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pinfold {
namespace {

std::optional<unsigned> cpuNumber(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > CpuList::kMaxCpu)
        return std::nullopt;
    return value;
}

} // namespace

Result<CpuList> CpuList::parse(std::string_view text) {
    const auto invalid = [&] {
        return Error{ErrorCode::InvalidArgument, "CPU list '" + printable(text, 100) +
                                                     "' is not valid: use numbers and ranges such as \"0-3,8\", up to 8191"};
    };
    CpuList list;
    for (std::size_t start = 0; start <= text.size();) {
        const auto end = std::min(text.find(',', start), text.size());
        const auto part = text.substr(start, end - start);
        const auto dash = part.find('-');
        const auto first = cpuNumber(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : cpuNumber(part.substr(dash + 1));
        if (!first || !last || *last < *first)
            return invalid();
        if (list.cpus_.size() <= *last)
            list.cpus_.resize(*last + 1);
        for (auto cpu = *first; cpu <= *last; ++cpu)
            list.cpus_[cpu] = true;
        start = end + 1;
    }
    return list;
}

CpuList CpuList::of(const std::vector<unsigned>& numbers) {
    CpuList list;
    for (const auto cpu : numbers) {
        if (cpu > kMaxCpu)
            continue;
        if (list.cpus_.size() <= cpu)
            list.cpus_.resize(cpu + 1);
        list.cpus_[cpu] = true;
    }
    return list;
}

std::string CpuList::toString() const {
    std::string text;
    for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
        if (!cpus_[cpu])
            continue;
        auto last = cpu;
        while (last + 1 < cpus_.size() && cpus_[last + 1])
            ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cpu) + (last > cpu ? "-" + std::to_string(last) : "");
        cpu = last;
    }
    return text;
}

std::vector<std::uint8_t> CpuList::toBitmap() const {
    std::vector<std::uint8_t> bitmap((cpus_.size() + 7) / 8);
    for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu)
        if (cpus_[cpu])
            bitmap[cpu / 8] = static_cast<std::uint8_t>(bitmap[cpu / 8] | (1U << (cpu % 8)));
    return bitmap;
}

std::size_t CpuList::count() const { return static_cast<std::size_t>(std::count(cpus_.begin(), cpus_.end(), true)); }

std::vector<unsigned> CpuList::numbers() const {
    std::vector<unsigned> numbers;
    for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu)
        if (cpus_[cpu])
            numbers.push_back(cpu);
    return numbers;
}

bool CpuList::contains(const CpuList& other) const {
    for (std::size_t cpu = 0; cpu < other.cpus_.size(); ++cpu)
        if (other.cpus_[cpu] && (cpu >= cpus_.size() || !cpus_[cpu]))
            return false;
    return true;
}

CpuList CpuList::united(const CpuList& other) const {
    auto list = *this;
    list.cpus_.resize(std::max(cpus_.size(), other.cpus_.size()));
    for (unsigned cpu = 0; cpu < other.cpus_.size(); ++cpu)
        if (other.cpus_[cpu])
            list.cpus_[cpu] = true;
    return list;
}

CpuList CpuList::intersected(const CpuList& other) const { return without(without(other)); }

CpuList CpuList::without(const CpuList& other) const {
    auto list = *this;
    for (unsigned cpu = 0; cpu < list.cpus_.size(); ++cpu)
        if (other.contains(cpu))
            list.cpus_[cpu] = false;
    list.trim();
    return list;
}

void CpuList::trim() {
    while (!cpus_.empty() && !cpus_.back())
        cpus_.pop_back();
}

} // namespace pinfold
