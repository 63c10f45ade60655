// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// A set of CPU numbers in the kernel's list format, "0-3,8" (cgroup-v2.rst, cpuset.cpus).
class CpuList {
public:
    /// CPU numbers run from 0 to 8191, the kernel's largest NR_CPUS.
    static constexpr unsigned kMaxCpu = 8191;

    /// Error: InvalidArgument for an empty list, a reversed range or a number above kMaxCpu.
    static Result<CpuList> parse(std::string_view text);

    /// Canonical: sorted, merged. Equal sets have equal text.
    std::string toString() const;
    /// The set as systemd's AllowedCPUs= wants it on D-Bus: bit n of byte n/8 is CPU n.
    std::vector<std::uint8_t> toBitmap() const;
    bool contains(const CpuList& other) const;
    bool operator==(const CpuList&) const = default;

private:
    std::vector<bool> cpus_;
};

} // namespace pinfold
