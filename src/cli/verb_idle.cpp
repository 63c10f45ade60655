// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/retry.hpp"
#include "cli/verbs.hpp"
#include "config/config.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kLeastSince = 1s;
constexpr Microseconds kMostSince = 30 * 24h;

struct IdleOptions {
    std::optional<Microseconds> since; ///< the value of --since; if unset, the value of idle.since applies
    std::optional<std::string> user;
};

OptionSet describe(IdleOptions& options) {
    return {{.name = "--since",
             .value = "DURATION",
             .help = "judge what the jobs used in the last DURATION, 1s to 30d (default: idle.since of the configuration)",
             .set = into(options.since, durationFrom(kLeastSince, kMostSince, "time", "1s to 30d, such as 1h"))},
            userOption(options.user)};
}

bool holdsItsShare(const JobInfo& job) { return job.state == ShownState::Running || job.state == ShownState::Suspended; }

/// Adds the job to the listing if the job is idle, or if pinfold cannot tell whether the job is idle. examine() can return every
/// error that ManagerClient can return. If the job has ended or belongs to another user, examine() skips the job and returns no
/// error.
Result<void> examine(const ManagerClient& client, const JobInfo& job, Microseconds age, IdleListing& listing) {
    const auto profile = retryWhileBusy([&] { return client.profile(job.key); });
    const auto holding = profile ? retryWhileBusy([&] { return client.holding(job); }) : Result<Holding>(profile.error());
    if (!holding) {
        const auto code = holding.error().code;
        const bool isExpected = code == ErrorCode::NoSuchJob || code == ErrorCode::NoSuchReceipt || code == ErrorCode::Denied;
        return isExpected ? Result<void>() : holding.error();
    }
    const auto held = cpusHeld(holding->limits, holding->slots);
    const auto cpus = idlenessOf(*profile, held, age, listing.since);
    const auto memory = memoryIdlenessOf(*profile, memoryHeld(holding->limits), age, listing.since);
    if (isBelow(cpus, listing.share) || isBelow(memory, listing.memoryShare))
        listing.jobs.push_back({job, age, cpus, memory});
    else if (!held)
        listing.withoutCpus.push_back(job.key);
    else if (!cpus)
        listing.withoutProfile.push_back(job.key);
    return {};
}

Result<void> fill(IdleListing& listing, const std::optional<uid_t>& uid) {
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    const auto jobs = client->listJobs();
    if (!jobs)
        return jobs.error();
    const auto now = RealClock::now();
    for (const auto& job : *jobs) {
        const auto age = timeBetween(job.created, now);
        if (age < listing.since || !holdsItsShare(job) || (uid && job.uid != *uid))
            continue;
        if (auto examined = examine(*client, job, age, listing); !examined)
            return examined;
    }
    // The jobs are sorted by the number of their unused CPUs. If two jobs have the same number of unused CPUs, the job with more
    // unused memory comes first. The job with the most unused CPUs comes first.
    const auto unused = [](const std::optional<Idleness>& idleness) { return idleness ? idleness->held - idleness->used : 0; };
    std::ranges::stable_sort(listing.jobs, std::ranges::greater(),
                             [unused](const IdleRow& row) { return std::pair(unused(row.cpus), unused(row.memory)); });
    return {};
}

void sayWhatIsNotKnown(const std::vector<std::string>& jobs, const std::string& one, const std::string& many) {
    if (!jobs.empty())
        std::fprintf(stderr, "pinfold: %s, so pinfold does not know whether %s idle (--json has the keys)\n",
                     counted(jobs.size(), one, many).c_str(), jobs.size() == 1 ? "it is" : "they are");
}

ExitStatus idle(const VerbContext& context, const IdleOptions& options) {
    const auto loaded = loadConfig(ConfigPaths{});
    if (!loaded)
        return fail(loaded.error());
    std::optional<uid_t> uid;
    if (options.user) {
        const auto user = userId(*options.user);
        if (!user)
            return fail(user.error());
        uid = *user;
    }
    IdleListing listing;
    listing.since = options.since.value_or(loaded->config.idle.since);
    listing.share = loaded->config.idle.share;
    listing.memoryShare = loaded->config.idle.memoryShare;
    if (auto filled = fill(listing, uid); !filled)
        return fail(filled.error());
    if (context.json) {
        context.terminal.print(jsonIdle(listing));
        return ExitStatus::Ok;
    }
    context.terminal.print(idleTable(listing.jobs, context.amounts, context.tableStyle()));
    sayWhatIsNotKnown(listing.withoutCpus, "job has no slots and no limit of CPUs", "jobs have no slots and no limit of CPUs");
    const auto unmeasured = " no measurements from the last " + formatDuration(listing.since);
    sayWhatIsNotKnown(listing.withoutProfile, "job has" + unmeasured, "jobs have" + unmeasured);
    return ExitStatus::Ok;
}

} // namespace

Verb idleVerb() {
    return makeVerb<IdleOptions>("idle", "list live jobs that use little of their CPUs or their memory", describe, idle);
}

} // namespace pinfold
