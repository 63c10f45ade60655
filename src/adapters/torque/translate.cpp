// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/torque/translate.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/time_limit.hpp"
#include "model/job_key.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>
#include <limits>
#include <set>

namespace pinfold::torque {
namespace {

constexpr std::size_t kCookieDigits = 32;
// A word in Torque's sizes has as many bytes as an int (src/resmom/linux/mom_mach.c).
constexpr std::uint64_t kWordBytes = 4;
// kOverLimit has the values of JOB_EXEC_OVERLIMIT_* for memory, walltime and cput.
constexpr std::string_view kOverLimit[] = {"-10", "-11", "-12"};
constexpr std::uint64_t kMaxProcessors = 1U << 20U;
constexpr std::uint64_t kMaxSlots = 8192; // the maximum number of slots that OpenJob accepts

/// Each enumerator is the position of an argument of the prologue or the epilogue (see "Prologue and Epilogue Scripts" in
/// Torque's manual).
enum Argument {
    kJobId = 1,
    kUser = 2,
    kGroup = 3,
    kJobName = 4,
    kPrologueResources = 5,
    kQueue = 6,
    kAccount = 7,
    kEpilogueExit = 10
};

std::string_view value(const Environment& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view{} : std::string_view(found->second);
}

template <class Each> void forEachPart(std::string_view text, char separator, const Each& each) {
    while (!text.empty()) {
        const auto end = text.find(separator);
        each(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

std::optional<std::uint64_t> count(std::string_view text) {
    const auto number = parseUnsigned(text);
    return number && *number >= 1 && *number <= kMaxProcessors ? std::optional(*number) : std::nullopt;
}

std::uint64_t saturated(std::uint64_t amount, std::uint64_t factor) {
    return amount > std::numeric_limits<std::uint64_t>::max() / factor ? kInfinity : amount * factor;
}

/// Parses Torque's sizes, such as "1024", "4gb" and "100MW". Units are powers of 1024; b means bytes, w means words.
std::optional<std::uint64_t> parseTorqueSize(std::string_view text) {
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    const auto lower = [&](std::size_t i) { return i < text.size() ? static_cast<char>(text[i] | 0x20) : '\0'; };
    const auto power = std::string_view("kmgtpe").find(lower(0));
    if (!text.empty() && power != std::string_view::npos) {
        for (std::size_t i = 0; i <= power; ++i)
            number = saturated(number, 1024);
        text.remove_prefix(1);
    }
    if (text.empty() || (text.size() == 1 && lower(0) == 'b'))
        return number;
    return text.size() == 1 && lower(0) == 'w' ? std::optional(saturated(number, kWordBytes)) : std::nullopt;
}

/// Returns the amount of the resource `name` in a resource list. If the resource list names a resource several times, smallest()
/// returns the smallest amount. If a user puts a comma into a quoted value, the text after the comma can look like a further
/// entry of the list.
template <class Parse>
std::optional<std::uint64_t> smallest(std::string_view resources, std::string_view name, const Parse& parse) {
    std::optional<std::uint64_t> found;
    forEachPart(resources, ',', [&](std::string_view part) {
        if (!part.starts_with(name) || part.substr(name.size(), 1) != "=")
            return;
        const auto amount = parse(part.substr(name.size() + 1));
        if (amount && *amount > 0 && (!found || *amount < *found))
            found = amount;
    });
    return found;
}

std::optional<std::uint64_t> smallerOf(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

Error missing(const char* what) {
    return {ErrorCode::InvalidArgument,
            std::string(what) + ": only pbs_mom calls this program; see pinfold's documentation for Torque"};
}

/// Returns the text of the XML element `name`, if the element exists exactly once. A value from a user cannot look like an
/// element, because libxml2 writes '<' as "&lt;".
std::optional<std::string_view> element(std::string_view xml, const std::string& name) {
    const auto open = '<' + name;
    std::optional<std::string_view> found;
    for (auto at = xml.find(open); at != std::string_view::npos; at = xml.find(open, at + 1)) {
        const auto rest = xml.substr(at + open.size());
        if (!rest.starts_with('>') && !rest.starts_with(' '))
            continue;
        const auto begin = rest.find('>') + 1;
        const auto end = rest.find('<');
        if (found || begin == 0 || end == std::string_view::npos || end < begin ||
            !rest.substr(end).starts_with("</" + name + '>'))
            return std::nullopt;
        found = rest.substr(begin, end - begin);
    }
    return found;
}

std::optional<std::uint32_t> numericId(std::optional<std::string_view> text) {
    const auto number = text ? parseUnsigned(*text) : Result<std::uint64_t>(Error{});
    // For setresuid(2), the user id -1 means "do not change".
    return number && *number < UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

/// pbs_mom passes facts about the job to a prologue. identityOptions() turns the prologue's facts about the job into options of
/// `pinfold open`.
Words identityOptions(const Words& argv, const Environment& environment, std::string_view nodeFile) {
    Words words;
    if (const auto directory = value(environment, "PBS_O_WORKDIR"); !directory.empty())
        words.push_back("--submit-directory=" + std::string(directory));
    for (const auto& [option, argument] :
         {std::pair{"--group=", kGroup}, {"--job-name=", kJobName}, {"--queue=", kQueue}, {"--account=", kAccount}})
        if (argv.size() > argument && !argv[argument].empty())
            words.push_back(option + argv[argument]);
    const std::string_view id = argv[kJobId];
    const auto open = id.find('[');
    const auto close = id.find(']');
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
        const auto array = parseUnsigned(id.substr(0, open));
        const auto task = parseUnsigned(id.substr(open + 1, close - open - 1));
        if (array && task)
            words.insert(words.end(), {"--array-job=" + std::to_string(*array), "--array-task=" + std::to_string(*task)});
    }
    std::set<std::string_view> hosts;
    std::string names;
    forEachPart(nodeFile, '\n', [&](std::string_view line) {
        if (!line.empty() && hosts.insert(line).second && hosts.size() <= JobIdentity::kMostNodes)
            names += (names.empty() ? "" : ",") + std::string(line);
    });
    if (!hosts.empty())
        words.insert(words.end(), {"--nodes=" + names, "--node-count=" + std::to_string(hosts.size())});
    return words;
}

} // namespace

Result<std::string> jobKey(std::string_view jobId) {
    auto key = JobKey::parse("torque." + std::string(jobId));
    return key ? Result(key->text()) : Result<std::string>(key.error());
}

Processors processors(const Environment& environment, std::string_view resources, std::string_view nodeFile) {
    const auto perNode = count(value(environment, "PBS_NUM_PPN")).value_or(1);
    const auto nodes = count(value(environment, "PBS_NUM_NODES")).value_or(1);
    const auto alone = smallest(resources, "ncpus", count).value_or(1);
    Processors found{.here = std::max(perNode, alone), .whole = 1, .sure = nodes == 1};
    found.whole = std::max(count(value(environment, "PBS_NP")).value_or(perNode * nodes), found.here);

    // The node file ($PBS_NODEFILE) has one line for each processor. Only the mother superior, which is the first host of the
    // job, has the node file.
    const auto host = value(environment, "PBS_MSHOST");
    if (host.empty() || value(environment, "PBS_NODENUM") != "0")
        return found;
    std::uint64_t lines = 0;
    std::uint64_t ours = 0;
    forEachPart(nodeFile, '\n', [&](std::string_view line) {
        lines += line.empty() ? 0 : 1;
        ours += line == host ? 1 : 0;
    });
    return ours == 0 || alone > 1 ? found : Processors{.here = ours, .whole = lines, .sure = true};
}

std::optional<std::uint64_t> memoryHere(std::string_view resources, const Processors& processors) {
    const auto part = processors.sure ? processors.here : processors.whole;
    // ofWhole() rounds up, and its calculation does not overflow.
    const auto ofWhole = [&](std::uint64_t bytes) {
        return bytes / processors.whole * part + (bytes % processors.whole * part + processors.whole - 1) / processors.whole;
    };
    const auto limit = [&](const char* whole, const char* each) {
        auto job = smallest(resources, whole, parseTorqueSize);
        auto processes = smallest(resources, each, parseTorqueSize);
        return smallerOf(job ? std::optional(ofWhole(*job)) : std::nullopt,
                         processes ? std::optional(saturated(*processes, part)) : std::nullopt);
    };
    auto physical = limit("mem", "pmem");
    return physical ? physical : limit("vmem", "pvmem");
}

std::optional<std::uint64_t> walltime(std::string_view resources) {
    // Torque ignores fractions of a second.
    return smallest(resources, "walltime", [](std::string_view text) { return parseTimeLimit(text.substr(0, text.find('.'))); });
}

Result<Words> openArguments(const Words& argv, const Environment& environment, std::string_view nodeFile) {
    if (argv.size() <= kUser || argv[kUser].empty())
        return missing("the prologue's arguments lack the job and the user");
    auto key = jobKey(argv[kJobId]);
    if (!key)
        return key.error();
    const std::string_view resources = argv.size() > kPrologueResources ? std::string_view(argv[kPrologueResources]) : "";
    const auto counted = processors(environment, resources, nodeFile);
    Words words{"open", *key, "--uid=" + argv[kUser], "--slots=" + std::to_string(std::min(counted.here, kMaxSlots)),
                "--linger=infinity"};
    if (const auto memory = memoryHere(resources, counted); memory && *memory != kInfinity)
        words.push_back("--memory-max=" + std::to_string(*memory));
    if (const auto seconds = walltime(resources))
        words.push_back("--batch-run-time-max=" + std::to_string(*seconds));
    std::ranges::move(identityOptions(argv, environment, nodeFile), std::back_inserter(words));
    return words;
}

Result<Words> endArguments(const Words& argv, const Environment& environment) {
    if (argv.size() <= kJobId)
        return missing("the epilogue's arguments lack the job");
    auto key = jobKey(argv[kJobId]);
    if (!key)
        return key.error();
    Words words{"end", *key};
    const bool sister = !value(environment, "PBS_NODENUM").empty() && value(environment, "PBS_NODENUM") != "0";
    if (sister || argv.size() <= kEpilogueExit)
        return words;
    // If a signal ended the job, the exit status in the epilogue's arguments is 256 plus the signal's number. If pbs_mom itself
    // gave up the job, the exit status in the epilogue's arguments is negative. If the job exceeded a limit, pbs_mom ended the
    // job with SIGTERM.
    if (std::ranges::find(kOverLimit, argv[kEpilogueExit]) != std::end(kOverLimit))
        words.push_back("--exit-signal=" + std::to_string(SIGTERM));
    const auto exit = parseUnsigned(argv[kEpilogueExit]);
    if (exit && *exit < 256)
        words.push_back("--exit-status=" + std::to_string(*exit));
    else if (exit && *exit > 256 && *exit <= 256 + 64)
        words.push_back("--exit-signal=" + std::to_string(*exit - 256));
    return words;
}

Result<Task> startedTask(const Environment& environment) {
    if (value(environment, "PBS_JOBID").empty())
        return missing("the environment lacks PBS_JOBID");
    auto key = jobKey(value(environment, "PBS_JOBID"));
    if (!key)
        return key.error();
    // A program that spawns a task passes the task's environment variables to pbs_mom. After the variables of the program,
    // pbs_mom adds only PBS_VNODENUM. PBS_TASKNUM and PBS_NODENUM can be copies of the batch script's variables, so the code must
    // not use PBS_TASKNUM and PBS_NODENUM. Virtual node 0 is on the mother superior.
    const bool first = value(environment, "PBS_VNODENUM") == "0";
    return Task{*std::move(key), first ? WrapperRole::Batch : WrapperRole::Task};
}

std::string loginName(std::string_view shell) { return '-' + std::string(shell.substr(shell.rfind('/') + 1)); }

bool isCookie(std::string_view text) {
    return text.size() == kCookieDigits && text.find_first_not_of("0123456789ABCDEFabcdef") == std::string_view::npos;
}

std::optional<Identity> identity(std::string_view jobFile, std::string_view cookie) {
    if (!isCookie(cookie) || element(jobFile, "cookie") != cookie)
        return std::nullopt;
    const auto jobId = element(jobFile, "jobid");
    const auto uid = numericId(element(jobFile, "execution_uid"));
    const auto gid = numericId(element(jobFile, "execution_gid"));
    if (!jobId || jobId->empty() || !uid || !gid)
        return std::nullopt;
    return Identity{std::string(*jobId), *uid, *gid};
}

} // namespace pinfold::torque
