// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "cli/table.hpp"
#include "model/idleness.hpp"
#include "wording/amounts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct IdleRow {
    JobInfo job;
    Microseconds age{};
    std::optional<Idleness> cpus;   ///< unset if the number of CPUs that the job holds is not known
    std::optional<Idleness> memory; ///< unset if the job has no memory limit

    /// Returns the length of the period of time that the figures describe. `cpus` or `memory` must be set.
    Microseconds over() const { return cpus ? cpus->over : memory->over; }
};

/// Holds the idle jobs. If pinfold does not know whether a job is idle, the key of the job is in `withoutCpus` or
/// `withoutProfile`.
struct IdleListing {
    Microseconds since{};
    std::uint32_t share = 0;       ///< in percent
    std::uint32_t memoryShare = 0; ///< in percent
    std::vector<IdleRow> jobs;
    std::vector<std::string> withoutCpus;    ///< the keys of the jobs that have neither slots nor a limit on CPUs
    std::vector<std::string> withoutProfile; ///< the keys of the jobs without measurements in the period that --since sets
};

std::string idleTable(const std::vector<IdleRow>& rows, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
