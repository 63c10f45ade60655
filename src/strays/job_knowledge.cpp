// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/job_knowledge.hpp"

#include "base/escape.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace pinfold {
namespace {

constexpr int kTries = 6;
constexpr std::chrono::milliseconds kBetween{100};

void addIdentities(const JobRecord& record, std::vector<ProcessIdentity>& ours) {
    if (record.supervisor)
        ours.push_back(*record.supervisor);
    for (const auto& [number, task] : record.tasks) {
        if (task.supervisor)
            ours.push_back(*task.supervisor);
        if (task.leader && record.state == JobState::Creating)
            ours.push_back(*task.leader);
    }
}

/// Lists the job slices in which there are processes. The error is Internal if pinfold cannot list the slices.
Result<std::set<std::string>> populatedSlices(const CgroupTree& cgroups) {
    const auto batch = "/" + std::string(kBatchSlice);
    std::set<std::string> populated;
    if (!cgroups.exists(batch)) // batch.slice does not exist, because no job has started since the boot
        return populated;
    if (const auto readable = cgroups.open(batch); !readable) {
        if (cgroups.exists(batch))
            return readable.error();
        return populated;
    }
    for (const auto& name : cgroups.children(batch)) {
        if (name.starts_with(kSlicePrefix) && name.ends_with(".slice") && !cgroups.isEmpty(batch + "/" + name))
            populated.insert(name);
    }
    return populated;
}

/// Compares the records, pinfoldd's list and the cgroups, and adds each difference that it finds to `disagreements`.
void compare(const RecordStore::Loaded& loaded, const std::set<std::string>& populated, const JobKnowledge& known,
             std::vector<std::string>& disagreements) {
    std::set<std::string> recorded;
    for (const auto& record : loaded.records) {
        recorded.insert(record.key.sliceName());
        if (!known.slices.contains(record.key.sliceName()))
            disagreements.push_back(fmt::format("job {} has a record, but pinfoldd does not know the job", record.key.text()));
    }
    for (const auto& slice : known.slices)
        if (!recorded.contains(slice))
            disagreements.push_back(fmt::format("pinfoldd knows the job of {}, but the job has no record", printable(slice)));
    for (const auto& slice : populated)
        if (!known.slices.contains(slice))
            disagreements.push_back(fmt::format(
                "{0} has processes, but pinfoldd does not know its job: `systemctl status {0}` shows them", printable(slice)));
}

/// Reads each source once. A disagreement between the records, pinfoldd's list and the cgroups can disappear after a moment. A
/// problem such as an unreadable record does not disappear by itself.
JobKnowledge learnOnce(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups,
                       std::vector<std::string>& disagreements) {
    JobKnowledge known;
    // Read the records first, then pinfoldd's list, and the cgroups last. If a job ends during learnOnce(), the job is only in
    // the sources that learnOnce() has already read. After the job's end, no source contains the job, so the next call of
    // learnOnce() finds no disagreement about the job.
    const auto loaded = records.read();
    const auto jobs = list();
    const auto populated = populatedSlices(cgroups);
    known.jobsKnown = static_cast<bool>(jobs);
    known.recordsKnown = loaded && loaded->unreadable.empty();
    if (!jobs)
        known.problems.push_back(jobs.error().message);
    if (!loaded)
        known.problems.push_back(loaded.error().message);
    if (!populated)
        known.problems.push_back(populated.error().message);
    if (jobs)
        for (const auto& job : *jobs) {
            known.users.insert(job.uid);
            known.slices.insert(job.slice);
        }
    if (loaded)
        for (const auto& record : loaded->records)
            addIdentities(record, known.ours);
    if (loaded)
        for (const auto& line : loaded->unreadable)
            known.problems.push_back("a record cannot be read: " + line);
    if (jobs && loaded && populated)
        compare(*loaded, *populated, known, disagreements);
    return known;
}

} // namespace

bool JobKnowledge::isOurs(const ProcessIdentity& process) const {
    return std::find(ours.begin(), ours.end(), process) != ours.end();
}

JobKnowledge learnJobs(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups) {
    std::vector<std::string> disagreements;
    auto known = learnOnce(list, records, cgroups, disagreements);
    // While a job begins or ends, the records, pinfoldd's list and the cgroups can disagree about the job for a moment. One call
    // of learnOnce() can find a disagreement about one job, and the next call a disagreement about another job. learnJobs()
    // reports a disagreement only if every call of learnOnce() has found that disagreement.
    auto lasting = disagreements;
    for (int tries = 1; tries < kTries && !lasting.empty(); ++tries) {
        std::this_thread::sleep_for(kBetween);
        disagreements.clear();
        auto next = learnOnce(list, records, cgroups, disagreements);
        next.ours.insert(next.ours.end(), known.ours.begin(), known.ours.end());
        known = std::move(next);
        std::erase_if(lasting, [&disagreements](const std::string& one) {
            return std::find(disagreements.begin(), disagreements.end(), one) == disagreements.end();
        });
    }
    if (!disagreements.empty()) // learnOnce() could have read the records just before a new job got its record
        if (const auto later = records.read())
            for (const auto& record : later->records)
                addIdentities(record, known.ours);
    known.problems.insert(known.problems.end(), lasting.begin(), lasting.end());
    return known;
}

} // namespace pinfold
