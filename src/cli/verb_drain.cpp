// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "bus_client/jobs_watch.hpp"
#include "cli/common_options.hpp"
#include "cli/countdown.hpp"
#include "cli/json.hpp"
#include "cli/retry.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace pinfold {
namespace {

constexpr std::size_t kMostKeys = 20; // the maximum number of job keys that an error message lists

/// Shows the progress of the drain on one line of the terminal. Each new progress text replaces the earlier text on the line. If
/// standard error is not a terminal, DrainProgress shows nothing.
class DrainProgress {
public:
    DrainProgress() {
        const char* term = std::getenv("TERM");
        winsize size{};
        if (::isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb" &&
            ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
            width_ = size.ws_col > 0 ? size.ws_col : 80;
    }
    ~DrainProgress() { show({}); }
    DrainProgress(const DrainProgress&) = delete;
    DrainProgress& operator=(const DrainProgress&) = delete;

    void show(const std::string& text) const {
        if (width_ > 0)
            std::fprintf(stderr, "\r\x1b[K%s", cutToWidth(text, width_ - 1).c_str());
    }

private:
    std::size_t width_ = 0;
};

std::string inWords(const std::vector<JobInfo>& jobs, std::size_t mostKeys) {
    std::string text = counted(jobs.size(), "job: ", "jobs: ");
    for (std::size_t i = 0; i < std::min(jobs.size(), mostKeys); ++i)
        text += (i > 0 ? ", " : "") + jobs[i].key;
    return jobs.size() > mostKeys ? text + ", …" : text;
}

struct Seen {
    bool draining = false;
    std::vector<JobInfo> jobs;
};

Result<Seen> look(const ManagerClient& client) {
    const auto drain = client.draining();
    if (!drain)
        return drain.error();
    auto jobs = client.listJobs();
    if (!jobs)
        return jobs.error();
    return Seen{drain->has_value(), std::move(*jobs)};
}

/// Waits until a job ends, or until the bus or pinfoldd restarts. After a restart of the bus or of pinfoldd, the caller has to
/// ask pinfoldd for the live jobs.
Result<void> waitForAnEnd(std::optional<JobsWatch>& watch, const std::vector<JobInfo>& jobs, Microseconds timeout) {
    if (!watch) {
        auto connected = JobsWatch::connect();
        if (!connected)
            return {}; // if the bus is restarting, the caller's next listJobs() waits for the bus
        watch = std::move(*connected);
    }
    std::vector<std::string> keys;
    for (const auto& job : jobs)
        keys.push_back(job.key);
    auto ended = watch->untilOneEnds(keys, timeout);
    if (ended || ended.error().code != ErrorCode::Unreachable)
        return ended;
    watch.reset(); // if pinfoldd restarts, a JobsWatch cannot be used any more
    return {};
}

ExitStatus waitUntilEmpty(const Countdown& countdown) {
    std::optional<JobsWatch> watch;
    const DrainProgress progress;
    while (true) {
        const auto seen = retryWhileAway<Seen>(look);
        if (!seen)
            return fail(seen.error());
        if (!seen->draining)
            return fail({ErrorCode::Internal, "the drain was ended by `pinfold undrain` meanwhile: the node takes jobs again"});
        if (seen->jobs.empty())
            return ExitStatus::Ok;
        progress.show("waiting for " + inWords(seen->jobs, seen->jobs.size()));
        const auto ended = waitForAnEnd(watch, seen->jobs, countdown.left());
        if (ended)
            continue;
        progress.show({});
        if (ended.error().code == ErrorCode::TimedOut)
            return fail({ErrorCode::TimedOut,
                         fmt::format("the node did not become empty in time: it still has {}; the node stays drained",
                                     inWords(seen->jobs, kMostKeys))});
        return fail(ended.error());
    }
}

void sayThatItStaysDrained(int signal) {
    static constexpr std::string_view words = "\nno longer waiting; the node stays drained until `pinfold undrain`\n";
    (void)!::write(STDERR_FILENO, words.data(), words.size());
    ::raise(signal); // the flag SA_RESETHAND has restored the default action of the signal
}

void announceInterrupt() {
    struct sigaction action {};
    action.sa_handler = sayThatItStaysDrained;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
}

struct DrainOptions {
    std::string reason;
    bool wait = false;
    std::optional<Microseconds> timeout;
};

OptionSet describe(DrainOptions& options) {
    return {{.name = "--reason",
             .value = "TEXT",
             .help = "the reason of the drain, a text of at most 500 bytes",
             .set = into(options.reason)},
            {.name = "--wait", .help = "wait until no job is live", .set = into(options.wait)},
            {.name = "--timeout",
             .value = "TIME",
             .help = "with --wait: exit with status 124 after this time (default: never)",
             .set = into(options.timeout, parseDuration)}};
}

ExitStatus drain(const VerbContext&, const DrainOptions& options) {
    if (options.timeout && !options.wait)
        return fail({ErrorCode::InvalidArgument, "--timeout needs --wait: a drain does not end by itself"});
    const Countdown countdown(options.timeout);
    const auto drained = retryWhileAway<void>([&](const ManagerClient& client) { return client.drain(options.reason); });
    if (!drained)
        return fail(drained.error());
    if (!options.wait)
        return ExitStatus::Ok;
    announceInterrupt();
    return waitUntilEmpty(countdown);
}

struct UndrainOptions {
    bool dryRun = false;
};

OptionSet describe(UndrainOptions& options) { return {dryRunOption(options.dryRun)}; }

ExitStatus undrain(const VerbContext& context, const UndrainOptions& options) {
    if (options.dryRun) {
        static constexpr auto what = "let the node take jobs again";
        context.terminal.print(context.json ? jsonDryRun(std::nullopt, {what}) : std::string("would ") + what + "\n");
        return ExitStatus::Ok;
    }
    const auto done = retryWhileAway<void>([](const ManagerClient& client) { return client.undrain(); });
    return done ? ExitStatus::Ok : fail(done.error());
}

} // namespace

Verb drainVerb() { return makeVerb<DrainOptions>("drain", "take no new jobs until `pinfold undrain`", describe, drain); }

Verb undrainVerb() { return makeVerb<UndrainOptions>("undrain", "take new jobs again: end the drain", describe, undrain); }

} // namespace pinfold
