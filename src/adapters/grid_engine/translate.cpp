// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/translate.hpp"

#include "base/cpu_list.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/time_limit.hpp"
#include "model/job_key.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>

namespace pinfold {
namespace {

// If a memory limit is lower than kLeastMemory (in bytes), pinfold raises the limit to kLeastMemory. kLeastMemory is equal to
// LIMIT_VMEM_MIN of the real shepherd, because the real shepherd could not run with less memory.
constexpr std::uint64_t kLeastMemory = 10 << 20;
constexpr std::uint64_t kMostSlots = 1'000'000;
constexpr std::size_t kLongestBinding = 64 << 10; // the maximum length of the job's core binding, in characters

Error unclear(const std::string& what, const std::string& value) {
    return {ErrorCode::InvalidArgument, "Grid Engine's " + what + " '" + printable(value, 200) + "' is not valid"};
}

bool isNumber(std::string_view text) {
    return !text.empty() && text.size() <= 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool sameIgnoringCase(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Returns the value of `name` in `config`. If `config` has different values of `name`, trusted() returns an error, because it is
/// possible that a user has added a value.
Result<std::string> trusted(const GridEngineConfig& config, const std::string& name) {
    const auto& all = config.values(name);
    if (all.empty() || all.front().empty())
        return Error{ErrorCode::InvalidArgument, "Grid Engine's config has no " + name};
    for (const auto& other : all)
        if (other != all.front())
            return Error{ErrorCode::InvalidArgument, "Grid Engine's config has several values of " + name + ": '" +
                                                         printable(all.front(), 100) + "' and '" + printable(other, 100) +
                                                         "': is there a line break in the job's arguments or paths?"};
    return all.front();
}

/// Returns the value of `name` as a text for the receipt. fact() returns nullopt if two lines with the name have different
/// values. A user can add a line to the file, for example to change the job's account. sge_execd writes a line for each name,
/// even if the value is "none".
std::optional<std::string> fact(const GridEngineConfig& config, const std::string& name) {
    const auto value = trusted(config, name);
    return value ? identityText(*value) : std::nullopt;
}

bool isNone(std::string_view method) { return method.empty() || sameIgnoringCase(method, "none"); }

/// Holds the parts of the spool directory's path. sge_execd, and not the job's user, chooses the path of the spool directory.
struct Place {
    std::string job;
    std::string task; ///< the number of the array task; 1 if the job is not an array
    std::string slaveTask;
};

std::string_view takeLast(std::string_view& path) {
    const auto slash = path.rfind('/');
    const auto last = slash == std::string_view::npos ? path : path.substr(slash + 1);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    return last;
}

Result<Place> readPlace(std::string_view directory) {
    auto path = directory;
    auto last = takeLast(path);
    Place place;
    auto parent = path;
    if (takeLast(parent) != "active_jobs") {
        place.slaveTask = std::string(last);
        last = takeLast(path);
        parent = path;
        if (place.slaveTask.empty() || takeLast(parent) != "active_jobs")
            return unclear("spool directory", std::string(directory));
    }
    const auto dot = last.find('.');
    place.job = std::string(last.substr(0, dot));
    place.task = dot == std::string_view::npos ? std::string() : std::string(last.substr(dot + 1));
    if (!isNumber(place.job) || !isNumber(place.task))
        return unclear("spool directory", std::string(directory));
    return place;
}

/// Lowers the memory limit to the lowest value that the configuration has under `name`.
void lower(std::optional<std::uint64_t>& limit, const GridEngineConfig& config, const std::string& name, std::uint64_t slots) {
    const auto& perJob = config.values(name + "_is_consumable_job");
    const bool scaled = std::find(perJob.begin(), perJob.end(), "1") == perJob.end();
    for (const auto& text : config.values(name))
        if (const auto bytes = parseGridEngineMemory(text)) {
            const auto least = std::max(*bytes, kLeastMemory);
            const auto total = scaled && least > (UINT64_MAX >> 1) / slots ? UINT64_MAX >> 1 : least * (scaled ? slots : 1);
            limit = std::min(limit.value_or(UINT64_MAX), total);
        }
}

/// Lowers the memory limit to the job's limit for the resident set. Neither the real shepherd nor lowerResident() multiplies the
/// limit for the resident set by the number of slots.
void lowerResident(std::optional<std::uint64_t>& limit, const GridEngineConfig& config, const std::string& name) {
    lower(limit, config, name, 1);
}

std::uint64_t hostSlots(const GridEngineConfig& config) {
    std::uint64_t slots = 0;
    for (const auto& text : config.values("host_slots"))
        if (const auto number = parseUnsigned(text); number && *number > 0 && (slots == 0 || *number < slots))
            slots = std::min(*number, kMostSlots);
    return std::max<std::uint64_t>(slots, 1);
}

ResourceLimits readLimits(const GridEngineConfig& config, std::uint64_t slots) {
    ResourceLimits limits;
    lower(limits.memoryMax, config, "h_vmem", slots);
    lowerResident(limits.memoryMax, config, "h_rss");
    lower(limits.memoryHigh, config, "s_vmem", slots);
    lowerResident(limits.memoryHigh, config, "s_rss");
    // A soft limit that is not below the hard limit would have no effect.
    if (limits.memoryHigh && limits.memoryMax && *limits.memoryHigh >= *limits.memoryMax)
        limits.memoryHigh.reset();
    return limits;
}

/// Returns the CPUs that the queue is allowed to use (the value "processors"). All jobs of the queue share the queue's CPUs.
/// pinfold limits the job to the queue's CPUs, but does not reserve the CPUs for the job.
std::optional<CpuList> readProcessors(const GridEngineConfig& config) {
    std::optional<CpuList> all;
    for (const auto& text : config.values("processors"))
        if (const auto some = CpuList::parse(text)) {
            const auto both = all ? all->intersected(*some) : *some;
            if (!both.empty())
                all = both;
        }
    return all;
}

JobIdentity readIdentity(const GridEngineConfig& config, const Place& place, bool isArray) {
    JobIdentity identity{.jobName = fact(config, "job_name"), .account = fact(config, "account"), .queue = fact(config, "queue")};
    if (const auto project = fact(config, "acct_project"); project && !isNone(*project))
        identity.project = project;
    const auto job = parseUnsigned(place.job);
    const auto task = parseUnsigned(place.task);
    if (isArray && job && task) {
        identity.arrayJob = *job;
        identity.arrayTask = *task;
    }
    return identity;
}

bool isInteractive(const GridEngineConfig& config) {
    const auto script = config.value("script_file");
    return sameIgnoringCase(script, "QRSH") || sameIgnoringCase(script, "QLOGIN") || sameIgnoringCase(script, "QRLOGIN") ||
           sameIgnoringCase(script, "INTERACTIVE");
}

GridEngineOutput readOutput(const GridEngineConfig& config, const Place& place, bool isArray) {
    if (!place.slaveTask.empty() || isInteractive(config))
        return {};
    const bool merged = config.value("merge_stderr") == "1";
    GridEngineOutput output;
    output.path = config.value(merged ? "stdout_path" : "stderr_path");
    if (!output.path.starts_with('/') && !output.path.empty())
        output.path = config.value("cwd") + "/" + output.path;
    output.name = config.value("job_name") + (merged ? ".o" : ".e") + place.job + (isArray ? "." + place.task : "");
    if (output.name.find('/') != std::string::npos)
        return {};
    return output;
}

} // namespace

std::vector<GridEngineCore> parseGridEngineBinding(std::string_view binding) {
    // With the types "env_" and "pe_", Grid Engine does not bind the job to cores, but tells the job which cores to use.
    if (binding.size() > kLongestBinding || binding.starts_with("env_") || binding.starts_with("pe_"))
        return {};
    const auto colon = binding.rfind(':');
    if (colon == std::string_view::npos)
        return {};
    std::vector<GridEngineCore> cores;
    unsigned sockets = 0;
    unsigned inSocket = 0;
    for (const char letter : binding.substr(colon + 1)) {
        const auto kind = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        if (kind == 'S') {
            ++sockets;
            inSocket = 0;
        } else if (kind == 'C' && sockets > 0) {
            if (letter == 'c')
                cores.push_back({sockets - 1, inSocket});
            ++inSocket;
        } else if (kind != 'T') {
            return {};
        }
    }
    return cores;
}

std::optional<std::uint64_t> gridEngineRunTimeMax(const GridEngineConfig& environment) {
    const auto seconds = parseTimeLimit(environment.value("PINFOLD_BATCH_RUN_TIME_MAX"));
    return seconds ? std::optional(toUsec(std::chrono::seconds(*seconds))) : std::nullopt;
}

void addFromSpool(JobIdentity& identity, const GridEngineConfig& environment, std::string_view hostFile) {
    identity.submitHost = fact(environment, "SGE_O_HOST");
    identity.submitDirectory = fact(environment, "SGE_O_WORKDIR");
    std::vector<std::string> hosts; // `hostFile` has one line for each host, and each line begins with the host's name
    while (!hostFile.empty()) {
        const auto line = hostFile.substr(0, hostFile.find('\n'));
        if (const auto host = line.substr(0, line.find(' ')); !host.empty())
            hosts.emplace_back(host);
        hostFile.remove_prefix(std::min(line.size() + 1, hostFile.size()));
    }
    setNodes(identity, hosts);
}

Result<GridEngineJob> readGridEngineJob(std::string_view directory, const GridEngineConfig& config) {
    const auto place = readPlace(directory);
    if (!place)
        return place.error();
    const auto id = trusted(config, "job_id");
    if (!id)
        return id.error();
    const auto arrayTask = trusted(config, "ja_task_id");
    if (!arrayTask)
        return arrayTask.error();
    const auto owner = trusted(config, "job_owner");
    if (!owner)
        return owner.error();
    const bool isArray = *arrayTask != "0";
    if (*id != place->job || place->task != (isArray ? *arrayTask : "1"))
        return unclear("job in " + printable(directory, 300), *id + "." + *arrayTask);

    GridEngineJob job;
    job.key = "sge." + place->job + (isArray ? "." + place->task : "");
    job.owner = *owner;
    job.slaveTask = !place->slaveTask.empty();
    job.slots = hostSlots(config);
    job.identity = readIdentity(config, *place, isArray);
    job.limits = readLimits(config, job.slots);
    job.limits.allowedCpus = readProcessors(config);
    if (const auto binding = trusted(config, "binding"))
        job.cores = parseGridEngineBinding(*binding);
    job.output = readOutput(config, *place, isArray);
    job.shepherdSuspendsAlone =
        isNone(config.value("suspend_method")) && (config.value("notify").empty() || config.value("notify") == "0");
    return job;
}

} // namespace pinfold
