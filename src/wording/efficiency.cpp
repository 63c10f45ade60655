// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/efficiency.hpp"

#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {

Microseconds runTime(const Receipt& receipt) { return receipt.wall - std::min(receipt.suspended, receipt.wall); }

std::optional<Microseconds> cpuTime(const Usage& usage) {
    return usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
}

std::optional<double> cpusAllowed(const ResourceLimits& limits) {
    std::optional<double> cpus;
    if (limits.allowedCpus)
        cpus = static_cast<double>(limits.allowedCpus->count());
    if (const auto quota = finite(limits.cpuQuota)) {
        const auto byQuota = static_cast<double>(*quota) / 1e6;
        cpus = cpus ? std::min(*cpus, byQuota) : byQuota;
    }
    return cpus;
}

std::optional<double> cpuEfficiency(const Receipt& receipt) {
    const auto cpu = cpuTime(receipt.usage);
    const auto cpus = cpusAllowed(receipt.limits);
    if (!cpu || !cpus || *cpus <= 0 || runTime(receipt) == 0s)
        return std::nullopt;
    return static_cast<double>(cpu->count()) / (static_cast<double>(runTime(receipt).count()) * *cpus);
}

std::optional<std::uint64_t> finite(std::optional<std::uint64_t> limit) { return limit == kInfinity ? std::nullopt : limit; }

std::optional<Microseconds> finite(std::optional<Microseconds> limit) { return limit == kForever ? std::nullopt : limit; }

} // namespace pinfold
