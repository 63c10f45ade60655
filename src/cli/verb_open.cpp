// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/adoption.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/json.hpp"
#include "cli/retry.hpp"
#include "cli/verbs.hpp"
#include "options/job_options.hpp"

#include <fmt/core.h>

#include <fcntl.h>

#include <climits>

namespace pinfold {
namespace {

constexpr std::uint64_t kMostSlots = 8192;

/// Reads the number of a file descriptor that this program has inherited from its parent.
Result<int> parseOpenDescriptor(std::string_view text) {
    const auto number = parseUnsigned(text);
    if (number && *number <= INT_MAX && ::fcntl(static_cast<int>(*number), F_GETFD) >= 0)
        return static_cast<int>(*number);
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not the number of an open descriptor of pinfold: use one that pinfold has inherited",
                             printable(text, 50))};
}

struct OpenOptions {
    std::string job;
    std::string user;
    std::optional<std::uint64_t> slots;
    std::optional<Microseconds> linger;
    std::optional<Microseconds> reportWithin;
    AllocationRequest allocation;
    ResourceLimits limits;
    JobIdentity identity;
    bool replace = false;
    std::vector<std::string> adopted; ///< the ids of the processes to adopt
    std::optional<std::string> owner;
    bool batch = false;
    std::optional<int> output;
};

OptionSet describe(OpenOptions& options) {
    OptionSet set{
        jobArgument(options.job, Offer::Nothing),
        {.name = "--uid",
         .value = "USER",
         .help = "the user who owns the job (name or id)",
         .set = into(options.user),
         .offer = Offer::Users,
         .required = true},
        {.name = "--slots",
         .value = "N",
         .help = "the number of slots that the batch system gave the job",
         .set = into(options.slots, numberFrom(1, kMostSlots))},
        {.name = "--linger",
         .value = "TIME",
         .help = "how long the job outlives its last task (default: as configured)",
         .set = into(options.linger, parseDuration)},
        {.name = "--report-within",
         .value = "TIME",
         .help = "how long to wait for `pinfold end` after the batch script's end (default 10s)",
         .set = into(options.reportWithin, parseDuration)},
        {.name = "--replace", .help = "first end an earlier run of the job, if one is live", .set = into(options.replace)},
        {.name = "--adopt",
         .value = "PID",
         .help = "move these processes into the job",
         .set = into(options.adopted),
         .values = Values::Several,
         .offer = Offer::Processes},
        ownerOption(options.owner),
        {.name = "--batch", .help = "the process is the job's batch script", .set = into(options.batch)},
        {.name = "--output-fd",
         .value = "N",
         .help = "the open descriptor of the batch script's standard error, to which pinfoldd writes warnings",
         .set = into(options.output, parseOpenDescriptor)}};
    append(set, identityOptions(options.identity));
    append(set, allocationOptions(options.allocation));
    append(set, limitOptions(options.limits));
    return set;
}

/// Ends an earlier run of the job. The earlier run is still live if the batch system had no time to end the earlier run.
Result<void> endFormerRun(const std::string& key) {
    const auto ended = retryWhileAway<Receipt>([&](const ManagerClient& client) { return client.end(key, {}, kDefaultTimeout); });
    if (!ended && ended.error().code != ErrorCode::NoSuchJob)
        return ended.error();
    return {};
}

/// Moves the processes into the job. adoptInto() skips a process that is already in the job, so retryWhileAway() can safely
/// repeat the call.
Result<void> adoptInto(const ManagerClient& client, const OpenOptions& options, const std::string& slice,
                       std::vector<UniqueFd>& processes) {
    processes = outsideOf(slice, std::move(processes));
    if (processes.empty())
        return {};
    const auto added = options.batch ? client.addBatchScript(options.job, processes.front(), options.output)
                                     : client.adopt(options.job, processes);
    if (!added)
        return added.error();
    return {};
}

ExitStatus printOpened(const VerbContext& context, const std::string& key, const std::string& slice) {
    if (!context.json) {
        context.terminal.print(fmt::format("job {}: {}\n", key, slice));
        return ExitStatus::Ok;
    }
    const auto allocation = retryWhileAway<Allocation>([&](const ManagerClient& client) { return client.allocation(key); });
    if (!allocation)
        return fail(allocation.error());
    context.terminal.print(jsonOpened(key, slice, allocation->environment));
    return ExitStatus::Ok;
}

ExitStatus open(const VerbContext& context, const OpenOptions& options) {
    const auto uid = userId(options.user);
    if (!uid)
        return fail(uid.error());
    auto processes = openProcesses(options.adopted, options.owner);
    if (!processes)
        return fail(processes.error());
    if (options.batch && processes->size() != 1)
        return fail({ErrorCode::InvalidArgument, "--batch takes one --adopt PID: a job has one batch script"});
    if (options.output && !options.batch)
        return fail({ErrorCode::InvalidArgument, "--output-fd needs --batch: only a batch script hands its standard error over"});
    if (options.replace)
        if (const auto ended = endFormerRun(options.job); !ended)
            return fail(ended.error());
    const JobOpening opening{.uid = *uid,
                             .limits = options.limits,
                             .allocation = options.allocation,
                             .slots = options.slots,
                             .linger = options.linger,
                             .reportWithin = options.reportWithin,
                             .identity = options.identity};
    const auto slice =
        retryWhileAway<std::string>([&](const ManagerClient& client) { return client.open(options.job, opening); });
    if (!slice)
        return fail(slice.error());
    if (!processes->empty()) {
        const auto adopted =
            retryWhileAway<void>([&](const ManagerClient& client) { return adoptInto(client, options, *slice, *processes); });
        if (!adopted)
            return fail(adopted.error());
    }
    return printOpened(context, options.job, *slice);
}

} // namespace

Verb openVerb() { return makeVerb<OpenOptions>("open", "create a job that has no process yet", describe, open); }

} // namespace pinfold
