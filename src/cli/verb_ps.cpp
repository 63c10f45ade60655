// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_page.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbPs(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto processes = client->processes(context.line.job);
    if (!processes)
        return fail(processes.error());
    context.terminal.print(context.line.json
                               ? jsonProcesses(*processes)
                               : titleOf(context.line) + processTable(*processes, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace pinfold
