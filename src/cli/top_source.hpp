// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/top_rows.hpp"
#include "os/cgroup.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Reads the figures of all jobs from their cgroups, and calls pinfoldd as rarely as possible. TopSource keeps the cgroup files
/// of the jobs open. Each call of look() reads the usage, the limits and the suspension of each job from the cgroup files.
/// TopSource asks pinfoldd for the list of jobs when the slices in batch.slice have changed, and while a job is starting or
/// ending. Even if nothing changes, TopSource asks pinfoldd every 10 s, because only pinfoldd knows that a job is about to end.
class TopSource {
public:
    /// If `uid` is set, TopSource reads only the jobs of the user with this id.
    explicit TopSource(std::optional<uid_t> uid) : uid_(uid) {}

    /// Reads the present values of the jobs from their cgroups. Returns an error only if pinfoldd has never answered. If a later
    /// call to pinfoldd fails, trouble() returns the error.
    Result<TopSample> look();
    /// Returns the reason why the list of jobs is out of date. If the list of jobs is up to date, the result is unset.
    const std::optional<Error>& trouble() const { return trouble_; }

    /// Asks pinfoldd for the profile of a live job. Waits for the answer for at most a second.
    Result<Profile> profile(const std::string& key) const;

private:
    struct Watched {
        /// `info` is pinfoldd's last answer about the job. TopSource raises info.memoryNeed when the job uses more memory than
        /// info.memoryNeed. TopSource looks at the job more often than pinfoldd does.
        JobInfo info;
        std::optional<CgroupDir> cgroup;
    };

    bool mustAsk(const std::vector<std::string>& slices, RealTime now) const;
    Result<std::vector<JobInfo>> ask();
    void take(std::vector<JobInfo> jobs);
    std::optional<CgroupDir> open(const std::string& slice) const;
    static TopJob read(Watched& job);

    CgroupTree tree_;
    std::optional<uid_t> uid_;
    std::optional<ManagerClient> client_;
    std::map<std::string, Watched> jobs_; ///< maps the name of a slice to the job of the slice
    std::vector<std::string> slices_;     ///< the names of the slices at the time when TopSource last asked pinfoldd
    std::optional<RealTime> asked_;       ///< when pinfoldd last answered; unset if it never answered
    std::optional<Error> trouble_;
};

} // namespace pinfold
