// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/list_table.hpp"
#include "cli/verbs.hpp"

#include <algorithm>

namespace pinfold {
namespace {

Result<void> narrow(std::vector<JobInfo>& jobs, const CommandLine& line) {
    if (line.user) {
        const auto uid = userId(*line.user);
        if (!uid)
            return uid.error();
        std::erase_if(jobs, [&](const JobInfo& job) { return job.uid != *uid; });
    }
    if (line.state)
        std::erase_if(jobs, [&](const JobInfo& job) { return toString(job.state) != *line.state; });
    return {};
}

} // namespace

ExitStatus verbList(const VerbContext& context) {
    const auto columns = listColumns(context.line.columns, context.amounts, context.tableStyle());
    if (!columns)
        return fail(columns.error());
    const auto sort = listColumns({context.line.sort}, context.amounts, context.tableStyle());
    if (!sort)
        return fail(sort.error());

    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    auto jobs = client->listJobs();
    if (!jobs)
        return fail(jobs.error());
    if (auto narrowed = narrow(*jobs, context.line); !narrowed)
        return fail(narrowed.error());
    std::stable_sort(jobs->begin(), jobs->end(), sort->front().before);
    if (context.line.json) {
        context.terminal.print(jsonJobs(*jobs));
        return ExitStatus::Ok;
    }
    context.terminal.print(listTable(*columns, *jobs, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace pinfold
