// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/suggestion.hpp"
#include "cli/verbs.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

namespace pinfold {
namespace {

std::uint64_t nowUsec() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

struct ListColumn {
    Column column;
    std::function<std::string(const JobInfo&)> text;
    std::function<bool(const JobInfo&, const JobInfo&)> before;
};

std::vector<ListColumn> allColumns(const Amounts& amounts) {
    const auto byText = [](auto member) {
        return [member](const JobInfo& a, const JobInfo& b) { return a.*member < b.*member; };
    };
    const auto age = [amounts](const JobInfo& job) {
        const auto now = nowUsec();
        return amounts.duration(now > job.created ? now - job.created : 0);
    };
    return {
        {{"key"}, [](const JobInfo& job) { return printable(job.key); }, byText(&JobInfo::key)},
        {{"user"}, [](const JobInfo& job) { return userName(job.uid); }, byText(&JobInfo::uid)},
        {{"state"}, [](const JobInfo& job) { return job.state; }, byText(&JobInfo::state)},
        {{"tasks", true}, [](const JobInfo& job) { return std::to_string(job.tasks); }, byText(&JobInfo::tasks)},
        {{"age", true}, age, [](const JobInfo& a, const JobInfo& b) { return a.created > b.created; }},
        {{"leader", true},
         [](const JobInfo& job) { return job.leader ? std::to_string(*job.leader) : "-"; },
         byText(&JobInfo::leader)},
        {{"uid", true}, [](const JobInfo& job) { return std::to_string(job.uid); }, byText(&JobInfo::uid)},
        {{"created"}, [](const JobInfo& job) { return formatUtc(job.created); }, byText(&JobInfo::created)},
        {{"slice"}, [](const JobInfo& job) { return job.slice; }, byText(&JobInfo::slice)},
        {{"unit"}, [](const JobInfo& job) { return job.unit; }, byText(&JobInfo::unit)},
    };
}

Result<ListColumn> columnNamed(const std::vector<ListColumn>& columns, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& column : columns) {
        if (column.column.name == name)
            return column;
        names.push_back(column.column.name);
    }
    std::string all;
    for (const auto& known : names)
        all += (all.empty() ? "" : ", ") + known;
    return Error{ErrorCode::InvalidArgument,
                 "unknown column '" + printable(name, 100) + "'" + suggestion(name, names) + "; use " + all};
}

Result<void> narrow(std::vector<JobInfo>& jobs, const CommandLine& line) {
    if (line.user) {
        const auto uid = userId(*line.user);
        if (!uid)
            return uid.error();
        std::erase_if(jobs, [&](const JobInfo& job) { return job.uid != *uid; });
    }
    if (line.state)
        std::erase_if(jobs, [&](const JobInfo& job) { return job.state != *line.state; });
    return {};
}

} // namespace

ExitStatus verbList(const VerbContext& context) {
    const auto known = allColumns(context.amounts);
    auto names = context.line.columns;
    if (names.empty())
        names = {"key", "user", "state", "tasks", "age", "leader", "unit"};
    std::vector<ListColumn> columns;
    for (const auto& name : names) {
        auto column = columnNamed(known, name);
        if (!column)
            return fail(column.error());
        columns.push_back(std::move(*column));
    }
    const auto sort = columnNamed(known, context.line.sort);
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
    std::stable_sort(jobs->begin(), jobs->end(), sort->before);
    if (context.line.json) {
        context.terminal.print(jsonJobs(*jobs));
        return ExitStatus::Ok;
    }
    std::vector<Column> header;
    for (const auto& column : columns)
        header.push_back(column.column);
    std::vector<std::vector<std::string>> rows;
    for (const auto& job : *jobs) {
        auto& row = rows.emplace_back();
        for (const auto& column : columns)
            row.push_back(column.text(job));
    }
    context.terminal.print(formatTable(header, rows, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace pinfold
