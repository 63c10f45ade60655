// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/slurm/translate.hpp"

#include "base/cpu_list.hpp"
#include "base/parse.hpp"
#include "model/job_key.hpp"
#include "model/limit_variables.hpp"

#include <sys/wait.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint32_t kNoNumber = 0xfffffffe; // the value of Slurm's NO_VAL; Slurm's INFINITE is greater by 1
// NO_VAL64 (not set) and INFINITE64 (unlimited) are the two highest numbers of 64 bits. No node has an exbibyte of memory, so
// pinfold ignores a memory size of an exbibyte or more.
constexpr std::uint64_t kNoNodeHas = std::uint64_t{1} << 40; // the number of MiB in an exbibyte

/// Returns true if the path contains a cgroup that Slurm has made for a job. With cgroup v2, Slurm makes the cgroups of jobs in
/// "slurmstepd.scope", or in "<node>_slurmstepd.scope" if several slurmd run on a host. With cgroup v1, Slurm's cgroup is "slurm"
/// or "slurm_<node>", and contains cgroups "uid_<n>".
bool isSlurms(std::string_view path) {
    // Slurm 24.11 runs slurmstepd in the cgroup "system", also if Slurm makes no cgroups for jobs (proctrack/linuxproc). The
    // processes of such a job are then in the cgroup of their slurmstepd.
    if (path.ends_with("slurmstepd.scope/system"))
        return false;
    if (path.find("slurmstepd.scope/") != std::string_view::npos || path.ends_with("slurmstepd.scope"))
        return true;
    const auto user = path.find("/uid_");
    if (user == std::string_view::npos)
        return false;
    const auto above = path.substr(0, user);
    const auto name = above.substr(above.rfind('/') + 1);
    return name == "slurm" || name.starts_with("slurm_");
}

/// Returns the position of the first comma outside brackets, or the size of the list if there is no such comma.
std::size_t endOfPart(std::string_view list) {
    bool inside = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == ',' && !inside)
            return i;
        inside = list[i] == '[' || (inside && list[i] != ']');
    }
    return list.size();
}

/// Adds a host to `hosts` for each element of the list `rest`. The name of a host consists of the parameter `done` and an element
/// of `rest`. `rest` has a form such as "node[01-03,7]-ib[0-1]". Returns false if the form of `rest` is wrong, or if the name of
/// a host would be too long. Each recursive call of expand() adds a host or fails. When `hosts` is full, expand() makes no
/// further recursive call.
bool expand(const std::string& done, std::string_view rest, std::vector<std::string>& hosts) {
    if (done.size() > JobIdentity::kMostTextBytes)
        return false;
    const auto open = rest.find('[');
    if (open == std::string_view::npos) {
        if (hosts.size() < JobIdentity::kMostNodes)
            hosts.push_back(done + std::string(rest));
        return !rest.empty() || !done.empty();
    }
    const auto close = rest.find(']', open);
    if (close == std::string_view::npos)
        return false;
    const auto before = done + std::string(rest.substr(0, open));
    auto ranges = rest.substr(open + 1, close - open - 1);
    do {
        const auto range = ranges.substr(0, ranges.find(','));
        const auto first = range.substr(0, range.find('-'));
        const auto last = first.size() == range.size() ? first : range.substr(first.size() + 1);
        const auto from = parseUnsigned(first);
        const auto to = parseUnsigned(last);
        if (!from || !to || *from > *to)
            return false;
        for (auto number = *from; hosts.size() < JobIdentity::kMostNodes; ++number) {
            const auto digits = std::to_string(number);
            const std::string zeros(first.size() - std::min(first.size(), digits.size()), '0');
            if (!expand(before + zeros + digits, rest.substr(close + 1), hosts))
                return false;
            if (number == *to)
                break;
        }
        ranges.remove_prefix(std::min(range.size() + 1, ranges.size()));
    } while (!ranges.empty());
    return true;
}

} // namespace

std::string slurmKey(std::uint32_t jobId) { return "slurm." + std::to_string(jobId); }

JobIdentity slurmIdentity(const SlurmFacts& facts, const SlurmVariable& variable) {
    JobIdentity identity{.jobName = identityText(variable("SLURM_JOB_NAME")),
                         .group = identityText(facts.group),
                         .submitHost = identityText(variable("SLURM_SUBMIT_HOST")),
                         .submitDirectory = identityText(variable("SLURM_SUBMIT_DIR"))};
    if (facts.arrayJob != 0 && facts.arrayJob < kNoNumber && facts.arrayTask < kNoNumber) {
        identity.arrayJob = facts.arrayJob;
        identity.arrayTask = facts.arrayTask;
    }
    if (facts.restarts < kNoNumber)
        identity.run = facts.restarts;
    return identity;
}

JobIdentity slurmdIdentity(const SlurmVariable& variable) {
    JobIdentity identity{.account = identityText(variable("SLURM_JOB_ACCOUNT")),
                         .queue = identityText(variable("SLURM_JOB_PARTITION"))};
    if (const auto nodes = parseUnsigned(variable("SLURM_JOB_NUM_NODES")))
        identity.nodeCount = *nodes;
    setNodes(identity, slurmHosts(variable("SLURM_NODELIST")));
    return identity;
}

std::vector<std::string> slurmHosts(std::string_view list) {
    std::vector<std::string> hosts;
    while (!list.empty()) {
        const auto end = endOfPart(list);
        if (!expand({}, list.substr(0, end), hosts))
            return {};
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return hosts;
}

WrapperCreate slurmRequest(const SlurmTask& task) {
    WrapperCreate request;
    request.key = slurmKey(task.jobId);
    request.role = task.stepId == kSlurmBatchStep ? WrapperRole::Job : WrapperRole::TaskOfOpen;
    request.owner = task.owner;
    request.identity = task.identity;
    if (task.memory > 0 && task.memory < kNoNodeHas)
        request.limits.memoryMax = task.memory * kMiB;
    if (const auto cores = CpuList::parse(task.cores))
        request.slots = cores->count();
    return request;
}

EnvironmentChanges environmentChanges(const std::map<std::string, std::string>& given,
                                      const std::function<bool(const char* name)>& isSet) {
    EnvironmentChanges changes;
    if (isSet(kJobVariable))
        for (const char* name : kLimitVariables)
            changes.emplace(name, std::nullopt);
    for (const auto& [name, value] : given)
        if (changes.contains(name) || !isLimitVariable(name) || !isSet(name.c_str()))
            changes.insert_or_assign(name, value);
    return changes;
}

bool slurmContains(std::string_view cgroups) {
    while (!cgroups.empty()) {
        const auto end = std::min(cgroups.find('\n'), cgroups.size());
        if (isSlurms(cgroups.substr(0, end)))
            return true;
        cgroups.remove_prefix(std::min(end + 1, cgroups.size()));
    }
    return false;
}

bool isInBatchScope(std::string_view cgroups, std::uint32_t jobId) {
    const auto key = JobKey::parse(slurmKey(jobId));
    return key && cgroups.find("/" + key->scopeName(0) + "\n") != std::string_view::npos;
}

ExitState exitFromWaitStatus(std::uint32_t status) {
    if (status > 0xffff)
        return {};
    const auto waited = static_cast<int>(status);
    if (WIFEXITED(waited))
        return {.status = WEXITSTATUS(waited), .signal = {}};
    if (WIFSIGNALED(waited) && WTERMSIG(waited) <= 64)
        return {.status = {}, .signal = WTERMSIG(waited)};
    return {};
}

ExitState slurmJobExit(std::string_view text) {
    const auto status = parseUnsigned(text);
    return status && *status <= UINT32_MAX ? exitFromWaitStatus(static_cast<std::uint32_t>(*status)) : ExitState{};
}

} // namespace pinfold
