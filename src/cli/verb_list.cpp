// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/manager_client.hpp"
#include "cli/common_options.hpp"
#include "cli/job_details.hpp"
#include "cli/json.hpp"
#include "cli/list_table.hpp"
#include "cli/verbs.hpp"
#include "model/job_state.hpp"

#include <algorithm>

namespace pinfold {
namespace {

struct ListOptions {
    std::optional<std::string> user;
    std::optional<std::string> state;
    std::vector<std::string> columns;
    std::string sort = "key";
};

OptionSet describe(ListOptions& options) {
    return {userOption(options.user),
            {.name = "--state",
             .value = "STATE",
             .help = "show only jobs in this state",
             .set = into(options.state),
             .words = shownStateNames()},
            {.name = "--columns",
             .letter = 'o',
             .value = "COLUMN,...",
             .help = "show these columns, in this order",
             .set = into(options.columns),
             .values = Values::Several,
             .separator = ',',
             .words = listColumnNames()},
            {.name = "--sort",
             .value = "COLUMN",
             .help = "sort by this column",
             .set = into(options.sort),
             .words = listColumnNames()}};
}

Result<void> narrow(std::vector<JobInfo>& jobs, const ListOptions& options) {
    if (options.user) {
        const auto uid = userId(*options.user);
        if (!uid)
            return uid.error();
        std::erase_if(jobs, [&](const JobInfo& job) { return job.uid != *uid; });
    }
    if (options.state)
        std::erase_if(jobs, [&](const JobInfo& job) { return toString(job.state) != *options.state; });
    return {};
}

Result<std::vector<JobDetail>> withoutDetails(const std::vector<JobInfo>& jobs) {
    std::vector<JobDetail> details;
    for (const auto& job : jobs)
        details.push_back({.job = job});
    return details;
}

ExitStatus list(const VerbContext& context, const ListOptions& options) {
    const auto columns = listColumns(options.columns, context.amounts, context.tableStyle());
    const auto sort = listColumns({options.sort}, context.amounts, context.tableStyle());
    // A JSON document has no columns. pinfold needs the details of the jobs only to sort the jobs.
    auto used = context.json ? std::vector<ListColumn>{} : columns;
    used.insert(used.end(), sort.begin(), sort.end());
    const auto parts = partsOf(used);
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    auto jobs = client->listJobs();
    if (!jobs)
        return fail(jobs.error());
    if (auto narrowed = narrow(*jobs, options); !narrowed)
        return fail(narrowed.error());
    auto details = parts.any() ? askDetails(*client, *jobs, parts) : withoutDetails(*jobs);
    if (!details)
        return fail(details.error());
    std::ranges::stable_sort(*details, sort.front().before);
    context.terminal.print(context.json ? jsonJobs(*details) : listTable(columns, *details, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace

Verb listVerb() { return makeVerb<ListOptions>("list", "list live jobs", describe, list); }

} // namespace pinfold
