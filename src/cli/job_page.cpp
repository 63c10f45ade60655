// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_page.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

namespace pinfold {

Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key) {
    auto job = client.job(key);
    if (!job)
        return job.error();
    auto limits = client.limits(key);
    if (!limits)
        return limits.error();
    auto allocation = client.allocation(key);
    if (!allocation)
        return allocation.error();
    JobDetail detail{std::move(*job), std::move(*limits), std::move(*allocation), {}, {}};
    if (auto usage = client.usage(key))
        detail.usage = *usage;
    if (auto processes = client.processes(key))
        detail.processes = std::move(*processes);
    return detail;
}

std::string processTable(const std::vector<ProcessEntry>& processes, const VerbContext& context) {
    const std::vector<Column> columns{{"pid", true}, {"task", true}, {"user"},     {"started"}, {"cpu", true},
                                      {"rss", true}, {"state"},      {"waits in"}, {"command"}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& process : processes)
        rows.push_back({std::to_string(process.pid), std::to_string(process.task), userName(process.uid),
                        formatUtc(process.started), context.amounts.duration(process.cpu), context.amounts.size(process.rss),
                        process.state, process.waitPoint.value_or("-"), process.command});
    return formatTable(columns, rows, context.tableStyle());
}

} // namespace pinfold
