// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/choice.hpp"

#include "base/escape.hpp"
#include "model/job_key.hpp"

#include <algorithm>
#include <iterator>

namespace pinfold::pam {
namespace {

// A user can have a thousand jobs, so a message names at most kMostNamed jobs.
constexpr std::size_t kMostNamed = 5;

const WrapperJob* firstIn(const Jobs& jobs, ShownState state) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return job.state == state; });
    return found == jobs.end() ? nullptr : &*found;
}

std::string shown(const std::string& key) { return printable(key, 300); }

std::string listed(const Jobs& jobs) {
    std::string text;
    for (std::size_t i = 0; i < std::min(jobs.size(), kMostNamed); ++i)
        text += (i == 0 ? "" : ", ") + shown(jobs[i].key);
    return jobs.size() > kMostNamed ? text + ", ..." : text;
}

} // namespace

Result<void> mayLogIn(const Jobs& jobs, const std::string& node) {
    if (firstIn(jobs, ShownState::Running) || firstIn(jobs, ShownState::Suspended))
        return {};
    if (const auto* job = firstIn(jobs, ShownState::Creating))
        return Error{ErrorCode::NoSuchJob,
                     "Your job " + shown(job->key) + " is just starting on " + node + ": try again in a moment."};
    if (!jobs.empty())
        return Error{ErrorCode::JobEnding,
                     "Your job " + shown(jobs.front().key) + " on " + node + " is ending, so you cannot log in here any more."};
    return Error{ErrorCode::NoSuchJob, "You have no job on " + node +
                                           ", so you cannot log in here. This node accepts logins only from users "
                                           "whose jobs run on it: log in when one of your jobs runs."};
}

Jobs openTo(const Jobs& jobs) {
    Jobs open;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(open),
                 [](const auto& job) { return job.state == ShownState::Running; });
    return open;
}

Result<std::string> chooseJob(const Jobs& jobs, const std::optional<std::string>& origin, bool denySeveral,
                              const std::string& node) {
    if (auto allowed = mayLogIn(jobs, node); !allowed)
        return allowed.error();
    const auto open = openTo(jobs);
    if (open.empty())
        return Error{ErrorCode::Busy, "Your job " + shown(firstIn(jobs, ShownState::Suspended)->key) + " on " + node +
                                          " is suspended: you can log in when the job has been resumed."};
    if (origin && std::any_of(open.begin(), open.end(), [&](const auto& job) { return job.key == *origin; }))
        return *origin;
    if (open.size() > 1 && denySeveral)
        return Error{ErrorCode::Denied, "You have several jobs on " + node + " (" + listed(open) +
                                            "), and it is unclear to which of them this login belongs, so the login is refused."};
    return open.front().key;
}

std::string cannotTell(const std::string& node) {
    return "It cannot be checked whether you have a job on " + node +
           " at the moment, so you cannot log in here. Try again in a minute; if that does not help, tell your "
           "administrators.";
}

std::string cannotJoin(const std::string& key, const std::string& node) {
    return "Your login to " + node + " could not be made part of your job " + shown(key) +
           ", so the login is refused. Try again in a minute; if that does not help, tell your administrators.";
}

std::string wronglySetUp(const std::string& node) {
    return "Logins to " + node + " are not set up correctly, so you cannot log in here. Please tell your administrators.";
}

std::string cgroupsOf(std::string_view key) {
    const auto parsed = JobKey::parse(key);
    return parsed ? "/" + std::string(kBatchSlice) + "/" + parsed->sliceName() + "/" : std::string();
}

std::optional<std::string> jobOf(std::string_view cgroup, const Jobs& jobs) {
    for (const auto& job : jobs)
        if (const auto within = cgroupsOf(job.key); !within.empty() && cgroup.starts_with(within))
            return job.key;
    return std::nullopt;
}

} // namespace pinfold::pam
