// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

#include <csignal>

namespace pinfold {
namespace {

struct KillOptions {
    std::vector<std::string> jobs;
    int signal = SIGTERM;
    bool dryRun = false;
};

OptionSet describe(KillOptions& options) {
    return {jobsArgument(options.jobs),
            {.name = "--signal",
             .letter = 's',
             .value = "SIGNAL",
             .help = "the signal's name or number (default TERM)",
             .set = into(options.signal, parseSignal),
             .samples = {"TERM", "KILL", "INT", "HUP", "STOP", "CONT", "USR1", "USR2"}},
            dryRunOption(options.dryRun)};
}

/// Turns -9 into --signal=9, and -KILL into --signal=KILL. `pinfold kill` accepts the forms -9 and -KILL, because kill(1) accepts
/// them.
std::string signalAsOption(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && parseSignal(word.substr(1)) ? "--signal=" + word.substr(1) : word;
}

ExitStatus killJob(const VerbContext& context, const KillOptions& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    if (options.dryRun)
        return sayWhatWouldBeDone(context, *client, key, [&](const JobInfo& job) {
            return fmt::format("send {} to all processes of {}", signalName(options.signal), job.slice);
        });
    const auto sent = client->kill(key, options.signal);
    return sent ? ExitStatus::Ok : fail(sent.error());
}

ExitStatus kill(const VerbContext& context, const KillOptions& options) {
    return forEachJob(context, options.jobs, {},
                      [&](const VerbContext& one, const std::string& key) { return killJob(one, options, key); });
}

} // namespace

Verb killVerb() {
    auto verb = makeVerb<KillOptions>("kill", "send a signal to all processes of jobs", describe, kill);
    verb.reword = signalAsOption;
    return verb;
}

} // namespace pinfold
