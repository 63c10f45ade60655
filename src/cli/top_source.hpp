// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "cli/top_rows.hpp"
#include "os/cgroup.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Looks at all jobs again and again, at little cost. At each look TopSource reads usage, limits, and whether a job is suspended
/// in the cgroup files, which stay open. TopSource asks pinfoldd for the list of jobs when the slices in batch.slice have
/// changed, and while a job is coming or going. At other times it asks every 10 s, because only pinfoldd tells that a job is
/// about to end.
class TopSource {
public:
    /// If `uid` is set, TopSource looks only at the jobs of this user.
    explicit TopSource(std::optional<std::uint32_t> uid) : uid_(uid) {}

    /// Looks at the jobs. Returns an error only if pinfoldd has never answered; for later failures see trouble().
    Result<TopSample> look();
    /// Says why the list of jobs is an old one, or is unset if the list is new.
    const std::optional<Error>& trouble() const { return trouble_; }

private:
    struct Watched {
        JobInfo info;
        std::optional<CgroupDir> cgroup;
    };

    bool mustAsk(const std::vector<std::string>& slices, std::uint64_t now) const;
    Result<std::vector<JobInfo>> ask();
    void take(std::vector<JobInfo> jobs);
    std::optional<CgroupDir> open(const std::string& slice) const;
    static TopJob read(const Watched& job);

    CgroupTree tree_;
    std::optional<std::uint32_t> uid_;
    std::optional<ManagerClient> client_;
    std::map<std::string, Watched> jobs_; ///< by slice
    std::vector<std::string> slices_;     ///< the slices when TopSource last asked pinfoldd
    std::uint64_t asked_ = 0;             ///< when pinfoldd last answered (CLOCK_REALTIME, microseconds); 0 if it never answered
    std::optional<Error> trouble_;
};

} // namespace pinfold
