// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbKill(const VerbContext& context) {
    const auto signal = parseSignal(context.line.signal);
    if (!signal)
        return fail(signal.error());
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    if (context.line.dryRun) {
        const auto job = client->job(context.line.job);
        if (!job)
            return fail(job.error());
        context.terminal.print("would send " + signalName(*signal) + " to all processes of " + job->slice + "\n");
        return ExitStatus::Ok;
    }
    const auto sent = client->kill(context.line.job, *signal);
    return sent ? ExitStatus::Ok : fail(sent.error());
}

} // namespace pinfold
