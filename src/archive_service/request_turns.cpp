// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/request_turns.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {

void RequestTurns::add(Item item) {
    {
        const std::lock_guard lock(mutex_);
        users_[item.user].waiting.push_back(std::move(item));
    }
    changed_.notify_one();
}

void RequestTurns::remove(uid_t uid, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto user = users_.find(uid);
    if (user == users_.end())
        return;
    std::erase_if(user->second.waiting, [id](const Item& item) { return item.id == id; });
    if (user->second.waiting.empty() && user->second.atWork == 0)
        users_.erase(user);
}

std::optional<RequestTurns::Item> RequestTurns::take() {
    std::unique_lock lock(mutex_);
    std::optional<Item> item;
    changed_.wait(lock, [&] { return closed_ || (item = next()); });
    return item;
}

/// RequestTurns serves the users in turn, in the order of their user ids. Returns a request of the user whose turn is next, or
/// nullopt if no waiting request can start now.
std::optional<RequestTurns::Item> RequestTurns::next() {
    const auto mayHaveTurn = [](const auto& entry) { return !entry.second.waiting.empty() && entry.second.atWork < kMostAtOnce; };
    auto user = std::find_if(users_.upper_bound(last_), users_.end(), mayHaveTurn);
    if (user == users_.end())
        user = std::find_if(users_.begin(), users_.end(), mayHaveTurn);
    if (user == users_.end())
        return std::nullopt;
    last_ = user->first;
    ++user->second.atWork;
    auto item = std::move(user->second.waiting.front());
    user->second.waiting.pop_front();
    return item;
}

void RequestTurns::finished(uid_t uid) {
    {
        const std::lock_guard lock(mutex_);
        const auto user = users_.find(uid);
        --user->second.atWork;
        if (user->second.waiting.empty() && user->second.atWork == 0)
            users_.erase(user);
    }
    changed_.notify_one();
}

void RequestTurns::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

} // namespace pinfold
