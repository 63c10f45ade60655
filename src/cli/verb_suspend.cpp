// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

using Call = Result<void> (ManagerClient::*)(const std::string&) const;

ExitStatus ask(const VerbContext& context, Call call, const char* what) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto& key = context.line.job;
    if (context.line.dryRun) {
        const auto job = client->job(key);
        if (!job)
            return fail(job.error());
        context.terminal.print(std::string("would ") + what + " all processes of " + job->slice + "\n");
        return ExitStatus::Ok;
    }
    const auto done = ((*client).*call)(key);
    return done ? ExitStatus::Ok : fail(done.error());
}

} // namespace

ExitStatus verbSuspend(const VerbContext& context) { return ask(context, &ManagerClient::suspend, "freeze"); }

ExitStatus verbResume(const VerbContext& context) { return ask(context, &ManagerClient::resume, "thaw"); }

} // namespace pinfold
