// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/top_rows.hpp"
#include "client/manager_client.hpp"
#include "os/cgroup.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Looks at all jobs again and again, at little cost: usage and limits come from the cgroup files, which stay open, at each look.
/// pinfoldd is asked for its list when the slices in batch.slice are others than before, while a job is coming or going, and else
/// every 10 s: nothing else tells that a job is about to end. Whether a job is suspended its cgroup tells.
class TopSource {
public:
    /// `uid`: only the jobs of this user.
    explicit TopSource(std::optional<std::uint32_t> uid) : uid_(uid) {}

    /// Error: only while pinfoldd has never answered; later on see trouble().
    Result<TopSample> look();
    /// Why the list of jobs is an old one.
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
    std::vector<std::string> slices_;     ///< as they were when pinfoldd was asked
    std::uint64_t asked_ = 0;             ///< CLOCK_REALTIME, microseconds; 0: never answered
    std::optional<Error> trouble_;
};

} // namespace pinfold
