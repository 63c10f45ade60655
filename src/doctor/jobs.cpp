// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "base/word_list.hpp"
#include "doctor/checks.hpp"
#include "model/job_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace pinfold::doctor {
namespace {

constexpr const char* kSlices = "/sys/fs/cgroup/batch.slice";
constexpr const char* kReconcile = "pinfold reconcile";

using Names = std::set<std::string>; ///< the jobs' keys, escaped as in the names of units

Names slices(const Files& files) {
    Names names;
    for (const auto& name : files.list(kSlices))
        if (name.starts_with("batch-") && name.ends_with(".slice"))
            names.insert(name.substr(6, name.size() - 12));
    return names;
}

/// Returns the keys of all records, with the state of each job. If a record cannot be read, the state of the job is unset.
std::map<std::string, std::optional<JobState>> records(const Files& files) {
    std::map<std::string, std::optional<JobState>> found;
    for (const auto& file : files.matching(std::filesystem::path(kRecordsDirectory) / "*.json")) {
        const auto text = files.read(file);
        const auto record = decodeJobRecord(text.value_or(""));
        if (text) // `text` is unset if pinfoldd removed the record after the call of matching()
            found.emplace(file.stem(), record ? std::optional(record->state) : std::nullopt);
    }
    return found;
}

std::string someOf(const std::vector<std::string>& names) {
    constexpr std::size_t most = 5;
    std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
    if (names.size() > most)
        shown.push_back(fmt::format("{} more", names.size() - most));
    return enumerated(shown, "and");
}

struct Noun {
    const char* one;
    const char* many;
};

void report(Findings& findings, const char* id, const std::vector<std::string>& names, Noun wrong, const char* where,
            const char* good) {
    if (names.empty())
        findings.ok(id, good);
    else
        findings.warn(id, fmt::format("{}: {}", counted(names.size(), wrong.one, wrong.many), someOf(names)), kReconcile, where);
}

} // namespace

void checkJobs(const Host&, const Files& files, Findings& findings) {
    if (files.exists(kRecordsDirectory) && !files.listable(kRecordsDirectory)) {
        findings.needsRoot("jobs.units", kRecordsDirectory);
        return;
    }
    // Jobs can start and end during the check. pinfoldd writes the record of a job before it creates the slice, and removes the
    // record after it has removed the slice. The check lists the slices before it reads the records, and lists the slices once
    // more afterwards. The check reports a slice without a record only if the first and the second list of slices contain the
    // slice. If a record still exists, but the record's slice is in neither of the two lists, the check reports a record without
    // a slice.
    const auto before = slices(files);
    const auto found = records(files);
    const auto after = slices(files);
    std::vector<std::string> orphans;
    std::vector<std::string> bare;
    std::vector<std::string> unreadable;
    for (const auto& name : before)
        if (after.contains(name) && !found.contains(name))
            orphans.push_back("batch-" + name + ".slice");
    for (const auto& [name, state] : found)
        if (!state)
            unreadable.push_back(name + ".json");
        else if ((state == JobState::Running || state == JobState::Ending) && !before.contains(name) && !after.contains(name) &&
                 files.exists(std::filesystem::path(kRecordsDirectory) / (name + ".json")))
            bare.push_back(name + ".json");
    report(findings, "jobs.units", orphans, {"unit of a job without a record", "units of jobs without a record"}, kSlices,
           "each unit of a job has a record");
    report(findings, "jobs.records", bare, {"record of a job without a unit", "records of jobs without a unit"},
           kRecordsDirectory, "each record of a job has its units");
    if (!unreadable.empty())
        findings.fail("jobs.unreadable",
                      fmt::format("{} cannot be read: {}", counted(unreadable.size(), "record", "records"), someOf(unreadable)),
                      fmt::format("move the records out of {}, then run `systemctl restart pinfoldd`", kRecordsDirectory),
                      kRecordsDirectory);
}

} // namespace pinfold::doctor
