// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/idleness.hpp"

#include "base/parse.hpp"

#include <algorithm>
#include <span>

namespace pinfold {
namespace {

/// Returns the newest points of the profile, until the sum of their lengths reaches the duration `since`. If the whole profile is
/// shorter than the duration `since`, the result contains all points. If the newest point is older than the duration `since`, the
/// result is empty.
std::span<const ProfilePoint> pointsOfLast(const Profile& profile, Microseconds age, Microseconds since) {
    const std::span<const ProfilePoint> all(profile.points());
    if (age >= profile.length() + since)
        return {};
    std::size_t count = 0;
    for (Microseconds over{}; count < all.size() && over < since; ++count)
        over += all[all.size() - 1 - count].length;
    return all.last(count);
}

Microseconds lengthOf(std::span<const ProfilePoint> points) {
    Microseconds length{};
    for (const auto& point : points)
        length += point.length;
    return length;
}

} // namespace

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

std::optional<double> memoryHeld(const ResourceLimits& limits) {
    constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 60; // no node has more memory than kMostMemory
    if (!limits.memoryMax || *limits.memoryMax > kMostMemory)
        return std::nullopt;
    return static_cast<double>(*limits.memoryMax);
}

std::optional<Idleness> idlenessOf(const Profile& profile, std::optional<double> held, Microseconds age, Microseconds since) {
    const auto points = pointsOfLast(profile, age, since);
    const auto over = lengthOf(points);
    if (!held || *held <= 0 || over == 0s)
        return std::nullopt;
    double cpuTime = 0;
    for (const auto& point : points)
        cpuTime += point.meanOf(Measure::Cpu) * static_cast<double>(point.length.count());
    return Idleness{.held = *held, .used = cpuTime / static_cast<double>(over.count()) / 1e6, .over = over};
}

std::optional<Idleness> memoryIdlenessOf(const Profile& profile, std::optional<double> held, Microseconds age,
                                         Microseconds since) {
    const auto points = pointsOfLast(profile, age, since);
    const auto over = lengthOf(points);
    if (!held || *held <= 0 || over == 0s)
        return std::nullopt;
    double need = 0;
    for (const auto& point : points) // the sum is too high if anonymous and shared memory had their maxima at different moments
        need = std::max(need, static_cast<double>(point.mostOf(Measure::Anon)) + point.mostOf(Measure::Shmem));
    if (need <= 0) // the kernel does not count memory, or the job has no process
        return std::nullopt;
    return Idleness{.held = *held, .used = need, .over = over};
}

} // namespace pinfold
