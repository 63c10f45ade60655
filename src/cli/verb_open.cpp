// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/adoption.hpp"
#include "cli/json.hpp"
#include "cli/patience.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

/// Ends a former run of the job, which its batch system had no time to end.
Result<void> endFormerRun(const std::string& key) {
    const auto ended =
        insist<Receipt>([&](const ManagerClient& client) { return client.end(key, {}, CommandLine::kDefaultTimeout); });
    if (!ended && ended.error().code != ErrorCode::NoSuchJob)
        return ended.error();
    return {};
}

/// This call may be repeated: processes that are in the job by then stay there.
Result<void> adoptInto(const ManagerClient& client, const CommandLine& line, const std::string& slice,
                       std::vector<UniqueFd>& processes) {
    processes = outsideOf(slice, std::move(processes));
    if (processes.empty())
        return {};
    const auto added = line.batch ? client.addBatchScript(line.job, processes.front()) : client.adopt(line.job, processes);
    if (!added)
        return added.error();
    return {};
}

ExitStatus printOpened(const VerbContext& context, const std::string& slice) {
    const auto& key = context.line.job;
    if (!context.line.json) {
        context.terminal.print("job " + key + ": " + slice + "\n");
        return ExitStatus::Ok;
    }
    const auto allocation = insist<Allocation>([&](const ManagerClient& client) { return client.allocation(key); });
    if (!allocation)
        return fail(allocation.error());
    context.terminal.print(jsonOpened(key, slice, allocation->environment));
    return ExitStatus::Ok;
}

} // namespace

ExitStatus verbOpen(const VerbContext& context) {
    const auto& line = context.line;
    const auto uid = userId(*line.user);
    if (!uid)
        return fail(uid.error());
    auto processes = openProcesses(line.arguments, line.owner);
    if (!processes)
        return fail(processes.error());
    if (line.batch && processes->size() != 1)
        return fail({ErrorCode::InvalidArgument, "--batch takes one --adopt PID: a job has one batch script"});
    if (line.replace)
        if (const auto ended = endFormerRun(line.job); !ended)
            return fail(ended.error());
    const JobOpening opening{.uid = *uid,
                             .limits = line.limits,
                             .allocation = line.allocation,
                             .slots = line.slots,
                             .linger = line.linger,
                             .reportWithin = line.reportWithin};
    const auto slice = insist<std::string>([&](const ManagerClient& client) { return client.open(line.job, opening); });
    if (!slice)
        return fail(slice.error());
    if (!processes->empty()) {
        const auto adopted =
            insist<void>([&](const ManagerClient& client) { return adoptInto(client, line, *slice, *processes); });
        if (!adopted)
            return fail(adopted.error());
    }
    return printOpened(context, *slice);
}

} // namespace pinfold
