// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/outcome.hpp"

#include "adapters/grid_engine/spool_config.hpp"
#include "base/parse.hpp"
#include "model/oom.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace pinfold {
namespace {

constexpr std::uint64_t kExited = 1; // bit 0 of wait_status (sge_report.h) means "exited", and the exit status begins at bit 4
constexpr int kStatusShift = 4;
constexpr std::uint64_t kMostSignal = 64;
constexpr std::uint64_t kMostStatus = 255;

/// Returns nullopt if the text is not a number. If a value in the file "usage" is not a number, pinfold does not change the
/// value.
std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

using Seconds = std::chrono::duration<double>;

std::string seconds(Microseconds time) {
    char text[40]; // NOLINT(cppcoreguidelines-avoid-c-arrays): snprintf(3) needs an array
    std::snprintf(text, sizeof text, "%llu.%06llu", static_cast<unsigned long long>(time / 1s),
                  static_cast<unsigned long long>(time % 1s / 1us));
    return text;
}

/// Grid Engine's file `usage` has lines such as ru_utime=12.5. If the receipt's value for `name` is larger than `value`,
/// larger() returns the receipt's value. larger() returns nullopt if `value` is not a number, or if the receipt has no value that
/// is larger than `value`.
std::optional<std::string> larger(std::string_view name, std::string_view value, const Usage& usage) {
    const auto theirs = number(value);
    if (!theirs)
        return std::nullopt;
    if (name == "ru_utime" && usage.cpuUser && Seconds(*usage.cpuUser).count() > *theirs)
        return seconds(*usage.cpuUser);
    if (name == "ru_stime" && usage.cpuSystem && Seconds(*usage.cpuSystem).count() > *theirs)
        return seconds(*usage.cpuSystem);
    // Like ru_maxrss, the memory need does not include the page cache. The memory peak includes the page cache. larger() uses the
    // memory peak only if the receipt does not contain the memory need.
    const auto kibi = (usage.memoryNeed ? usage.memoryNeed : usage.memoryPeak).value_or(0) / 1024;
    if (name == "ru_maxrss" && static_cast<double>(kibi) > *theirs)
        return std::to_string(kibi);
    return std::nullopt;
}

} // namespace

GridEngineVerdict verdictOn(ErrorCode failure) {
    switch (failure) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::LimitInvalid:
    // If Grid Engine put the job back into the queue, the job would fail at each new start (every three seconds for a parallel
    // job).
    case ErrorCode::LimitUnenforceable:
        return GridEngineVerdict::JobFailed;
    // pinfoldd refuses the job if an earlier run of the job is still ending, or if pinfoldd has too many requests at once.
    case ErrorCode::AlreadyExists:
    case ErrorCode::Busy:
    case ErrorCode::JobEnding:
    case ErrorCode::NoSuchJob:
    case ErrorCode::PidGone:
        return GridEngineVerdict::TryAgain;
    case ErrorCode::NoSuchReceipt:
    case ErrorCode::Denied:
    case ErrorCode::Draining:
    case ErrorCode::ConfigInvalid:
    case ErrorCode::SystemdFailed:
    case ErrorCode::Unreachable:
    case ErrorCode::TimedOut:
    case ErrorCode::Damaged:
    case ErrorCode::Internal:
        break;
    }
    return GridEngineVerdict::NodeFailed;
}

std::optional<ExitState> exitFromUsage(std::string_view usage) {
    const auto values = GridEngineConfig::parse(usage);
    const auto signal = parseUnsigned(values.value("signal"));
    if (signal && *signal >= 1 && *signal <= kMostSignal)
        return ExitState{.status = {}, .signal = static_cast<int>(*signal)};
    const auto status = parseUnsigned(values.value("exit_status"));
    if (status && *status <= kMostStatus)
        return ExitState{.status = static_cast<int>(*status), .signal = {}};
    return std::nullopt;
}

std::string usageWithReceipt(std::string_view usage, const Receipt& receipt) {
    std::string text;
    while (!usage.empty()) {
        const auto end = std::min(usage.find('\n'), usage.size());
        const auto line = usage.substr(0, end);
        usage.remove_prefix(std::min(end + 1, usage.size()));
        const auto equals = std::min(line.find('='), line.size());
        const auto name = line.substr(0, equals);
        const auto value = line.substr(std::min(equals + 1, line.size()));
        const auto ours = receipt.tasks == 1 ? larger(name, value, receipt.usage) : std::nullopt;
        text.append(ours ? std::string(name) + "=" + *ours : std::string(line)).push_back('\n');
    }
    return text;
}

std::string usageOfKilled(int signal, std::uint64_t start, std::uint64_t end) {
    // usageOfKilled() reports a signal as the exit status 128 plus the signal's number. If the file "usage" named the signal,
    // sge_execd would show only the signal, and not the text of the file "error".
    const auto status = 128 + static_cast<std::uint64_t>(signal);
    return "wait_status=" + std::to_string(kExited | status << kStatusShift) + "\nexit_status=" + std::to_string(status) +
           "\nsignal=0\nstart_time=" + std::to_string(start) + "\nend_time=" + std::to_string(end) +
           "\nru_wallclock=" + std::to_string(end - std::min(start, end)) +
           "\nru_utime=0.000000\nru_stime=0.000000\nru_maxrss=0\n";
}

std::string causeOfKilled(int signal, const Receipt& receipt) {
    switch (receipt.result) {
    case JobResult::OutOfMemory:
        return receipt.oom ? oomLine(*receipt.oom, receipt.usage.memoryPeak) : "killed: out of memory";
    case JobResult::Timeout:
        return "killed at its run time limit in pinfold";
    case JobResult::Stopped:
        return "stopped by " +
               (receipt.stoppedBy ? "user id " + std::to_string(*receipt.stoppedBy) : std::string("an administrator")) +
               ", in pinfold or systemd";
    case JobResult::NodeShutdown:
        return "ended because the node was shut down";
    case JobResult::Exited:
    case JobResult::Signaled:
    case JobResult::SupervisorLost:
    case JobResult::NodeLost:
    case JobResult::Lost:
        break;
    }
    return "sge_shepherd was killed by " + signalName(signal);
}

} // namespace pinfold
