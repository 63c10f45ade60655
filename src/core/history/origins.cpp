// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/origins.hpp"

#include "base/parse.hpp"

#include <utility>

namespace pinfold {
namespace {

// A user can run jobs with 65,536 subordinate user ids, so the number of names that a NameCache keeps is limited.
constexpr std::size_t kMostNames = 10'000;

std::optional<std::string> set(std::string text) { return text.empty() ? std::nullopt : std::optional(std::move(text)); }

/// Returns the number of the job's group. Returns nullopt if the batch system has passed the group's name, or has not passed a
/// group.
std::optional<gid_t> groupNumber(const JobIdentity& identity) {
    const auto number = parseUnsigned(identity.group.value_or(""));
    return number && *number < UINT32_MAX ? std::optional(static_cast<gid_t>(*number)) : std::nullopt;
}

} // namespace

void NameCache::expect(Background& background, const Look& look, std::uint32_t id) {
    if (names_.contains(id))
        return;
    if (names_.size() >= kMostNames)
        names_.clear();
    const bool asked = background.ask(
        Lane::Names, [look, id] { return look(id); },
        [this, id](const Result<std::string>& name) {
            if (name)
                names_[id] = *name;
            else
                names_.erase(id); // the next call of expect() asks for the name again
        });
    if (asked)
        names_.try_emplace(id);
}

std::optional<std::string> NameCache::find(std::uint32_t id) const {
    const auto name = names_.find(id);
    return name == names_.end() ? std::nullopt : name->second;
}

void Origins::expect(const JobRecord& record) {
    (void)nameOf(record.uid);
    if (const auto group = groupNumber(record.identity))
        groups_.expect(context_.background, context_.nameOfGroup, *group);
}

std::optional<std::string> Origins::nameOf(uid_t user) {
    users_.expect(context_.background, context_.nameOfUser, user);
    return users_.find(user);
}

Origin Origins::of(const JobRecord& record) const {
    auto user = users_.find(record.uid);
    if (record.figures && record.figures->user)
        user = record.figures->user;
    return {.host = set(context_.hostName()),
            .bootId = set(record.bootId),
            .cluster = set(context_.config.daemon.cluster),
            .user = std::move(user),
            .version = set(context_.version)};
}

JobIdentity Origins::identityOf(const JobRecord& record) const {
    auto identity = record.identity;
    const auto group = groupNumber(identity);
    if (auto name = group ? groups_.find(*group) : std::nullopt) {
        identity.group = std::move(name);
        makePrintable(identity);
    }
    return identity;
}

} // namespace pinfold
