// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options/job_options.hpp"

#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr const char* kReceiptGroup = "Facts for the receipt";

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find(separator, start), text.size());
        parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

const char* valueOf(LimitForm form) {
    switch (form) {
    case LimitForm::Size:
        return "SIZE";
    case LimitForm::Duration:
        return "TIME";
    case LimitForm::Quota:
        return "PERCENT";
    case LimitForm::Number:
        return "N";
    case LimitForm::Signal:
        return "SIGNAL";
    case LimitForm::Numbers:
        return "LIST";
    case LimitForm::Devices:
        return "AMOUNTS";
    case LimitForm::Word:
        return "WORD";
    case LimitForm::Name:
        return "NAME";
    }
    return "";
}

std::vector<std::string> wordsOf(LimitForm form) {
    return form == LimitForm::Word ? oomPolicyNames() : std::vector<std::string>{};
}

std::vector<std::string> samplesOf(LimitForm form) {
    if (form == LimitForm::Signal)
        return {"TERM", "KILL", "INT", "HUP", "QUIT", "USR1", "USR2"};
    return {};
}

OptionSetter intoRole(WrapperRole& target, WrapperRole role) {
    return [&target, role](const std::string&) -> Result<void> {
        target = role;
        return {};
    };
}

OptionSetter intoList(std::optional<CpuList>& target) {
    return [&target](const std::string& text) { return setLimitText(text, target); };
}

} // namespace

OptionSet limitOptions(ResourceLimits& limits) {
    OptionSet options;
    options.reserve(limitTable().size());
    for (const auto& row : limitTable())
        options.push_back({.name = limitOption(row.name),
                           .value = valueOf(row.form),
                           .help = row.help,
                           .set = [&limits, name = row.name](const std::string& text) { return setLimit(limits, name, text); },
                           .words = wordsOf(row.form),
                           .samples = samplesOf(row.form),
                           .group = "Limits"});
    return options;
}

OptionSet allocationOptions(AllocationRequest& request) {
    constexpr auto* group = "CPUs and GPUs that no other job gets";
    return {{.name = "--cpus",
             .value = "N",
             .help = "reserve whole cores with at least N CPUs",
             .set = into(request.cpus, numberFrom(1)),
             .group = group},
            {.name = "--gpus", .value = "N", .help = "reserve N GPUs", .set = into(request.gpus, numberFrom(1)), .group = group},
            {.name = "--cpu-list",
             .value = "LIST",
             .help = "reserve these CPUs, which the batch system has chosen",
             .set = intoList(request.cpuList),
             .group = group},
            {.name = "--gpu-list",
             .value = "LIST",
             .help = "reserve these GPUs, numbered from 0",
             .set = intoList(request.gpuList),
             .group = group},
            {.name = "--exclusive",
             .help = "reserve all CPUs, and allow no other job on the node",
             .set = into(request.exclusive),
             .group = group}};
}

Option labelOption(Labels& labels) {
    return {.name = "--label",
            .value = "NAME=VALUE",
            .help = "give the job's receipt a label; may be given up to 16 times",
            .set = [&labels](const std::string& text) { return addLabel(text, labels); },
            .values = Values::Repeated,
            .group = kReceiptGroup};
}

OptionSet identityOptions(JobIdentity& identity) {
    const auto text = [](const char* name, const char* help, std::optional<std::string>& member) {
        return Option{.name = name,
                      .value = "TEXT",
                      .help = help,
                      .set = [&member](const std::string& value) -> Result<void> {
                          member = identityText(value);
                          return {};
                      },
                      .group = kReceiptGroup};
    };
    const auto number = [](const char* name, const char* help, std::optional<std::uint64_t>& member) {
        return Option{
            .name = name, .value = "N", .help = help, .set = into(member, numberFrom(0, INT64_MAX)), .group = kReceiptGroup};
    };
    return {text("--job-name", "the job's name", identity.jobName),
            text("--account", "the account that the job is charged to", identity.account),
            text("--queue", "the queue or partition", identity.queue),
            text("--project", "the project", identity.project),
            text("--group", "the group with whose rights the job runs", identity.group),
            number("--array-job", "the number of the array to which the job belongs", identity.arrayJob),
            number("--array-task", "the job's number in its array", identity.arrayTask),
            number("--run", "how often the job was requeued before this run", identity.run),
            text("--submit-host", "the host from which the job was submitted", identity.submitHost),
            text("--submit-directory", "the directory from which the job was submitted", identity.submitDirectory),
            {.name = "--nodes",
             .value = "HOSTS",
             .help = "the hosts of the job, separated by commas",
             .set = [&identity](const std::string& hosts) -> Result<void> {
                 setNodes(identity, split(hosts, ','));
                 return {};
             },
             .group = kReceiptGroup},
            number("--node-count", "the number of the job's hosts, if HOSTS does not name all of them", identity.nodeCount),
            labelOption(identity.labels)};
}

OptionSet jobOptions(JobOptions& options) {
    OptionSet set{
        {.name = "--job",
         .letter = 'j',
         .value = "KEY",
         .help = "the job's key <scheduler>.<id> (default: manual.<n>)",
         .set = into(options.key),
         .offer = Offer::LiveJobs},
        {.name = "--exec", .help = "become the job itself, and do not stay as its supervisor", .set = into(options.inPlace)},
        {.name = "--batch",
         .help = "run the batch script of job KEY, which was opened before",
         .set = intoRole(options.role, WrapperRole::Batch)},
        {.name = "--task",
         .help = "run another task of job KEY, which is live",
         .set = intoRole(options.role, WrapperRole::Task)}};
    set.push_back(labelOption(options.labels));
    append(set, allocationOptions(options.allocation));
    append(set, limitOptions(options.limits));
    return set;
}

} // namespace pinfold
