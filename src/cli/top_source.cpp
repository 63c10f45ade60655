// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_source.hpp"

#include "base/clock.hpp"
#include "model/job_key.hpp"
#include "wording/efficiency.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr Microseconds kAskAgain = 10s;
constexpr Microseconds kProfileTimeout = 1s;
// In addition to the descriptors of the cgroups, pinfold needs at most kOtherDescriptors file descriptors.
constexpr std::uint64_t kOtherDescriptors = 64;

std::string batchPath() { return "/" + std::string(kBatchSlice); }

bool isSettled(const JobInfo& job) { return job.state == ShownState::Running || job.state == ShownState::Suspended; }

/// Raises the soft limit on open files to the hard limit, and returns the new soft limit. The default of the soft limit on open
/// files is low, because programs that use select(2) cannot handle high descriptors.
std::uint64_t mostDescriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const auto soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : soft;
}

} // namespace

Result<TopSample> TopSource::look() {
    auto slices = tree_.children(batchPath());
    std::sort(slices.begin(), slices.end());
    if (const auto now = RealClock::now(); mustAsk(slices, now)) {
        auto jobs = ask();
        if (!jobs && !asked_)
            return jobs.error();
        trouble_ = jobs ? std::nullopt : std::optional(jobs.error());
        if (jobs) {
            take(std::move(*jobs));
            asked_ = now;
            slices_ = slices;
        }
    }
    // If the slice of a job does not exist any more, TopSource removes the job, without a call to pinfoldd.
    std::erase_if(jobs_, [&slices](const auto& entry) {
        return entry.second.cgroup && !std::binary_search(slices.begin(), slices.end(), entry.first);
    });
    TopSample sample{RealClock::now(), {}};
    for (auto& [slice, job] : jobs_)
        sample.jobs.push_back(read(job));
    return sample;
}

Result<Profile> TopSource::profile(const std::string& key) const {
    return client_ ? client_->profile(key, kProfileTimeout)
                   : Result<Profile>(Error{ErrorCode::Unreachable, "pinfoldd is not reachable"});
}

bool TopSource::mustAsk(const std::vector<std::string>& slices, RealTime now) const {
    return !asked_ || trouble_ || slices != slices_ || now < *asked_ || now - *asked_ >= kAskAgain ||
           std::any_of(jobs_.begin(), jobs_.end(), [](const auto& entry) { return !isSettled(entry.second.info); });
}

Result<std::vector<JobInfo>> TopSource::ask() {
    if (!client_) {
        auto client = ManagerClient::connect();
        if (!client)
            return client.error();
        client_.emplace(std::move(*client));
    }
    auto jobs = client_->listJobs();
    if (!jobs)
        client_.reset(); // the bus has perhaps restarted since the last call to pinfoldd
    return jobs;
}

void TopSource::take(std::vector<JobInfo> jobs) {
    static const auto most = mostDescriptors();
    std::map<std::string, Watched> taken;
    for (auto& info : jobs) {
        if (uid_ && info.uid != *uid_)
            continue;
        const auto slice = info.slice;
        const auto known = jobs_.find(slice);
        const bool same = known != jobs_.end() && known->second.info.created == info.created;
        if (same)
            info.memoryNeed = std::max(info.memoryNeed, known->second.info.memoryNeed);
        auto cgroup = same && known->second.cgroup ? std::move(known->second.cgroup) : open(slice);
        if (cgroup && (taken.size() + 1) * CgroupDir::kMostFiles + kOtherDescriptors <= most)
            cgroup->keepFilesOpen();
        taken.insert_or_assign(slice, Watched{std::move(info), std::move(cgroup)});
    }
    jobs_ = std::move(taken);
}

std::optional<CgroupDir> TopSource::open(const std::string& slice) const {
    auto cgroup = tree_.open(batchPath() + "/" + slice);
    return cgroup ? std::optional(std::move(*cgroup)) : std::nullopt;
}

TopJob TopSource::read(Watched& job) {
    TopJob read{job.info, RealClock::now(), {}, {}};
    if (!job.cgroup)
        return read;
    read.usage = job.cgroup->briefUsage();
    read.info.memoryNeed = job.info.memoryNeed = std::max(job.info.memoryNeed, memoryInUse(read.usage));
    read.bounds = job.cgroup->bounds();
    if (const auto frozen = job.cgroup->frozen(); frozen && isSettled(job.info))
        read.info.state = *frozen ? ShownState::Suspended : ShownState::Running;
    return read;
}

} // namespace pinfold
