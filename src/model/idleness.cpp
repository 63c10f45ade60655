// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/idleness.hpp"

#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {

std::optional<double> cpusAllowed(const ResourceLimits& limits) {
    std::optional<double> cpus;
    if (limits.allowedCpus)
        cpus = static_cast<double>(limits.allowedCpus->count());
    if (limits.cpuQuota && *limits.cpuQuota != kInfinity) {
        const auto byQuota = static_cast<double>(*limits.cpuQuota) / 1e6;
        cpus = cpus ? std::min(*cpus, byQuota) : byQuota;
    }
    return cpus;
}

std::optional<double> cpusHeld(const ResourceLimits& limits, std::optional<std::uint64_t> slots) {
    const auto allowed = cpusAllowed(limits);
    return allowed || !slots ? allowed : std::optional(static_cast<double>(*slots));
}

std::optional<Idleness> idlenessOf(const Profile& profile, std::optional<double> held, Microseconds age, Microseconds since) {
    if (!held || *held <= 0 || profile.empty() || age >= profile.length() + since)
        return std::nullopt;
    Microseconds over{};
    double cpuTime = 0;
    const auto& points = profile.points();
    for (auto point = points.rbegin(); point != points.rend() && over < since; ++point) {
        over += point->length;
        cpuTime += point->meanOf(Measure::Cpu) * static_cast<double>(point->length.count());
    }
    if (over == 0s)
        return std::nullopt;
    return Idleness{.held = *held, .used = cpuTime / static_cast<double>(over.count()) / 1e6, .over = over};
}

} // namespace pinfold
