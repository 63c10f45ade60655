// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/origins.hpp"

#include <utility>

namespace pinfold {
namespace {

// A user can run jobs with 65,536 subordinate user ids, so the number of names that Origins keeps is limited.
constexpr std::size_t kMostNames = 10'000;

std::optional<std::string> set(std::string text) { return text.empty() ? std::nullopt : std::optional(std::move(text)); }

} // namespace

void Origins::expect(uid_t owner) {
    if (names_.contains(owner))
        return;
    if (names_.size() >= kMostNames)
        names_.clear();
    const bool asked = context_.background.ask(
        Lane::Names, [nameOf = context_.nameOfUser, owner] { return nameOf(owner); },
        [this, owner](const Result<std::string>& name) {
            if (name)
                names_[owner] = *name;
            else
                names_.erase(owner); // the next call of expect() asks for the name again
        });
    if (asked)
        names_.try_emplace(owner);
}

std::optional<std::string> Origins::nameOf(uid_t user) {
    expect(user);
    const auto name = names_.find(user);
    return name == names_.end() ? std::nullopt : name->second;
}

Origin Origins::of(const JobRecord& record) const {
    const auto known = names_.find(record.uid);
    auto user = known == names_.end() ? std::nullopt : known->second;
    if (record.figures && record.figures->user)
        user = record.figures->user;
    return {.host = set(context_.hostName()),
            .bootId = set(record.bootId),
            .cluster = set(context_.config.daemon.cluster),
            .user = std::move(user),
            .version = set(context_.version)};
}

} // namespace pinfold
