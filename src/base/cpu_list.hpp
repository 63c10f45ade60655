// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Holds a set of CPU numbers in the kernel's list format, "0-3,8" (cgroup-v2.rst, cpuset.cpus). A CpuList can also hold NUMA
/// nodes, because the kernel writes sets of NUMA nodes in the same format (cpuset.mems).
class CpuList {
public:
    /// The highest CPU number is 8191, because the kernel's NR_CPUS is at most 8192.
    static constexpr unsigned kMaxCpu = 8191;

    /// Reads a list. Returns InvalidArgument for an empty list, a reversed range or a number above kMaxCpu.
    static Result<CpuList> parse(std::string_view text);
    /// Makes a list. The order of `numbers` does not matter. CpuList::of() ignores numbers above kMaxCpu, because no kernel uses
    /// these numbers.
    static CpuList of(const std::vector<unsigned>& numbers);

    /// Returns the list as text. toString() sorts the ranges and merges adjacent ranges, so equal sets have equal texts. The
    /// empty set has the text "", which parse() refuses.
    std::string toString() const;
    /// Returns the set of CPUs in the D-Bus format of systemd's AllowedCPUs=. In the D-Bus format, the bit n % 8 of the byte n /
    /// 8 describes CPU n.
    std::vector<std::uint8_t> toBitmap() const;
    bool empty() const { return cpus_.empty(); }
    std::size_t count() const;
    /// Returns the CPU numbers in ascending order.
    std::vector<unsigned> numbers() const;
    bool contains(unsigned cpu) const { return cpu < cpus_.size() && cpus_[cpu]; }
    bool contains(const CpuList& other) const;
    CpuList united(const CpuList& other) const;
    CpuList intersected(const CpuList& other) const;
    CpuList without(const CpuList& other) const;
    bool operator==(const CpuList&) const = default;

private:
    void trim();

    std::vector<bool> cpus_; ///< the last element is never false, because equal sets must have equal vectors
};

} // namespace pinfold
