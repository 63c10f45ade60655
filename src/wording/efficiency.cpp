// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/efficiency.hpp"

#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {

Microseconds runTime(const Receipt& receipt) { return receipt.wall - std::min(receipt.suspended, receipt.wall); }

std::optional<Microseconds> cpuTime(const Usage& usage) {
    return usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
}

std::optional<double> cpusOf(const Receipt& receipt) { return cpusHeld(receipt.limits, receipt.slots); }

std::optional<Microseconds> coreWalltime(const Receipt& receipt) {
    const auto cpus = cpusOf(receipt);
    if (!cpus || *cpus <= 0 || runTime(receipt) == 0s)
        return std::nullopt;
    const auto product = static_cast<double>(runTime(receipt).count()) * *cpus;
    if (product >= 0x1p64) // the receipt comes from a file, and the file is possibly damaged
        return std::nullopt;
    return Microseconds(static_cast<std::uint64_t>(product));
}

std::optional<double> cpuEfficiency(const Receipt& receipt) {
    const auto cpu = cpuTime(receipt.usage);
    const auto whole = coreWalltime(receipt);
    if (!cpu || !whole || *whole == 0s)
        return std::nullopt;
    return static_cast<double>(cpu->count()) / static_cast<double>(whole->count());
}

std::optional<double> memoryEfficiency(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.memoryMax);
    if (!receipt.usage.memoryNeed || !limit || *limit == 0)
        return std::nullopt;
    return static_cast<double>(*receipt.usage.memoryNeed) / static_cast<double>(*limit);
}

std::optional<std::uint64_t> memoryInUse(const Usage& usage) {
    return usage.memoryAnon && usage.memoryShmem ? std::optional(*usage.memoryAnon + *usage.memoryShmem) : std::nullopt;
}

std::optional<std::uint64_t> pageCache(const Usage& usage) {
    if (!usage.memoryFile || !usage.memoryShmem)
        return std::nullopt;
    return *usage.memoryFile - std::min(*usage.memoryFile, *usage.memoryShmem);
}

std::optional<Microseconds> finite(std::optional<Microseconds> limit) { return limit == kForever ? std::nullopt : limit; }

} // namespace pinfold
