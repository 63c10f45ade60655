// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds facts that the batch system reports about a job. The owner of the job can add labels. pinfoldd only stores the identity
// of a job in the job's receipt, and does not act on the identity.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

using Labels = std::map<std::string, std::string>;

/// Only admins, such as the batch system, are allowed to set the members other than `labels`. If users could set `account`, users
/// could write somebody else's account into the receipt of a job. Users can set the labels of their own jobs.
struct JobIdentity {
    static constexpr std::size_t kMostTextBytes = 256; ///< the maximum length of each text, in bytes
    static constexpr std::size_t kMostNodes = 128;
    static constexpr std::size_t kMostLabels = 16;
    static constexpr std::size_t kMostLabelNameBytes = 64;

    std::optional<std::string> jobName = {};
    std::optional<std::string> account = {};
    std::optional<std::string> queue = {}; ///< the queue or partition
    std::optional<std::string> project = {};
    std::optional<std::string> group = {};       ///< the job runs with the rights of this group
    std::optional<std::uint64_t> arrayJob = {};  ///< the number that the batch system gave the whole array of jobs
    std::optional<std::uint64_t> arrayTask = {}; ///< the number of this job in its array
    std::optional<std::uint64_t> run = {};       ///< how often the batch system requeued the job before the present run
    std::optional<std::string> submitHost = {};  ///< the host on which the user submitted the job
    std::optional<std::string> submitDirectory = {};
    std::vector<std::string> nodes = {};         ///< the names of the job's first kMostNodes hosts
    std::optional<std::uint64_t> nodeCount = {}; ///< the number of all hosts of the job
    Labels labels = {};

    bool operator==(const JobIdentity&) const = default;
};

/// Calls f(name, pointer to member) for each member. D-Bus and JSON use the names from forEachIdentityMember().
template <class F> void forEachIdentityMember(F&& f) {
    f("job_name", &JobIdentity::jobName);
    f("account", &JobIdentity::account);
    f("queue", &JobIdentity::queue);
    f("project", &JobIdentity::project);
    f("group", &JobIdentity::group);
    f("array_job", &JobIdentity::arrayJob);
    f("array_task", &JobIdentity::arrayTask);
    f("run", &JobIdentity::run);
    f("submit_host", &JobIdentity::submitHost);
    f("submit_directory", &JobIdentity::submitDirectory);
    f("nodes", &JobIdentity::nodes);
    f("node_count", &JobIdentity::nodeCount);
    f("labels", &JobIdentity::labels);
}

/// Calls f(name, member) for each member of `identity`.
template <class I, class F> void forEachIdentityField(I& identity, F&& f) {
    forEachIdentityMember([&](const char* name, auto member) { f(name, identity.*member); });
}

/// Returns true if a member of JobIdentity has a value. Records, receipts and requests contain only members that have a value.
template <class T> bool isSet(const std::optional<T>& member) { return member.has_value(); }
template <class T> bool isSet(const T& member) { return !member.empty(); }

/// Converts a text from the batch system to the form that pinfoldd accepts, and returns nullopt if the text is empty. Users can
/// choose `text` themselves, so `text` can be very long and can contain any bytes.
std::optional<std::string> identityText(std::string_view text);

/// Stores the names of the job's first kMostNodes hosts in `identity`. If `nodeCount` is lower than the number of names,
/// `nodeCount` becomes the number of names.
void setNodes(JobIdentity& identity, const std::vector<std::string>& names);

/// If a member of `identity` has no value, complete() copies the value of the member from `more`. If a member of `identity` has a
/// value, the member keeps this value.
void complete(JobIdentity& identity, const JobIdentity& more);

/// Makes all texts except the labels printable, and shortens these texts to kMostTextBytes. A job must run even if its name
/// contains unprintable characters.
void makePrintable(JobIdentity& identity);

/// Checks that there are at most kMostLabels labels, and that each label is valid. The name of a label has 1 to
/// kMostLabelNameBytes characters, and begins with a letter or a digit. The name of a label consists of letters, digits, '_', '-'
/// and '.'. The value of a label has at most kMostTextBytes bytes of UTF-8 without control characters. Error: InvalidArgument.
Result<void> validate(const Labels& labels);
/// Returns each label as "NAME=VALUE".
std::vector<std::string> labelPairs(const Labels& labels);
bool isLabelName(std::string_view name);

/// Adds a label from a text NAME=VALUE. If a label with this name exists, the new value replaces the old one. Error:
/// InvalidArgument.
Result<void> addLabel(std::string_view text, Labels& labels);

/// Says which jobs a query selects. If `value` is unset, the query selects all jobs that have the label `name`. If `value` is
/// set, the query selects the jobs whose label `name` has the value `value`.
struct LabelFilter {
    std::string name; ///< see isLabelName()
    std::optional<std::string> value = {};

    bool operator==(const LabelFilter&) const = default;
};
/// Reads a text of the form `NAME` or `NAME=VALUE`. Error: InvalidArgument.
Result<LabelFilter> labelFilter(std::string_view text);

} // namespace pinfold
