// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/time_out.hpp"

#include "base/parse.hpp"
#include "bus_client/manager_client.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr Microseconds kPatience = 5s; ///< the limit is short: pinfoldd possibly hangs, and the user has already waited

} // namespace

std::string stillThere(const std::string& key, std::optional<ShownState> state, std::optional<std::size_t> processes,
                       Microseconds timeout) {
    auto words = fmt::format("job {} is still {} after {}", key, toString(state), formatDuration(timeout));
    if (!processes)
        return words;
    return fmt::format("{}: {} left", words, counted(*processes, "process is", "processes are"));
}

Error explained(Error error, const std::string& key, Microseconds timeout) {
    if (error.code != ErrorCode::TimedOut)
        return error;
    const auto client = ManagerClient::connect();
    const auto jobs = client ? client->listJobs(kPatience) : Result<std::vector<JobInfo>>(client.error());
    if (!jobs) // a failure of listJobs() shows that pinfoldd does not answer
        return {ErrorCode::TimedOut,
                fmt::format("pinfoldd did not answer within {}; look at `systemctl status pinfoldd`", formatDuration(timeout))};
    const auto job = std::find_if(jobs->begin(), jobs->end(), [&key](const JobInfo& live) { return live.key == key; });
    if (job == jobs->end())
        return {ErrorCode::TimedOut, fmt::format("job {} was not over after {}, but is over now", key, formatDuration(timeout))};
    const auto processes = client->processes(key);
    return {ErrorCode::TimedOut,
            stillThere(key, job->state, processes ? std::optional(processes->size()) : std::nullopt, timeout)};
}

} // namespace pinfold
