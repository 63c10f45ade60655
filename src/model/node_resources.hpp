// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace pinfold {

/// Says how much of one resource the node has, and how much of the resource the jobs hold. A member of NodeShare is unset if
/// pinfoldd does not know the value of the member.
struct NodeShare {
    std::optional<std::uint64_t> total = {};
    std::optional<std::uint64_t> kept = {};  ///< the part of the resource that the site does not give to jobs
    std::optional<std::uint64_t> given = {}; ///< the sum of the amounts that live jobs hold; can be larger than `total`
    std::optional<std::uint64_t> free = {};  ///< `total` minus `kept` and minus `given`, at least 0
    /// The number of live jobs whose share of the resource has no limit. A job whose share has no limit adds nothing to `given`.
    /// For GPUs, unlimitedJobs is unset, because each job gets only the GPUs that the job asks for.
    std::optional<std::uint64_t> unlimitedJobs = {};

    bool operator==(const NodeShare&) const = default;
};

/// Returns a copy of `share` with a computed value in the member `free`. If `total` or `given` is unset, `free` stays unset.
NodeShare withFree(NodeShare share);

struct NodeResources {
    NodeShare cpus;   ///< the amounts of CPU time, in microseconds per second; 1,000,000 is one CPU (hyper-thread)
    NodeShare memory; ///< the amounts of memory, in bytes
    NodeShare gpus;   ///< the amounts, counted in GPUs; all members are unset if the configuration has no GPUs

    bool operator==(const NodeResources&) const = default;
};

/// Calls f(name, share) for each resource.
template <class R, class F> void forEachResource(R& resources, F&& f) {
    f("cpus", resources.cpus);
    f("memory", resources.memory);
    f("gpus", resources.gpus);
}

/// Calls f(name, amount) for each amount of a resource, in the order in which pinfold shows the amounts to people.
template <class S, class F> void forEachPart(S& share, F&& f) {
    f("total", share.total);
    f("kept", share.kept);
    f("given", share.given);
    f("free", share.free);
}

} // namespace pinfold
