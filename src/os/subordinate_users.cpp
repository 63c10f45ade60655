// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/subordinate_users.hpp"

#include "base/parse.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array<std::int64_t, 4> kNoFile{-ENOENT};
constexpr const char* kStays = ": pinfold continues to use the subordinate user ids from the last successful read";

std::string wrongLines(const std::vector<std::size_t>& lines) {
    auto text = "has lines that are not name:first:count: line " + std::to_string(lines.front());
    if (lines.size() > 1)
        text += " and " + std::to_string(lines.size() - 1) + " more";
    return text + "; each id in these lines counts as a user of its own";
}

} // namespace

uid_t SubordinateUsers::userOf(uid_t id) {
    if (id == 0)
        return id;
    lookIfDue();
    auto found = ranges_.upper_bound(id);
    if (found == ranges_.begin() || id > (--found)->second.range.last)
        return id;
    auto& [first, range] = *found;
    if (!range.owner)
        askFor(first, range);
    return range.user(first);
}

std::shared_ptr<const SubordinateOwners> SubordinateUsers::owners() const {
    auto owners = std::make_shared<SubordinateOwners>();
    for (const auto& [first, range] : ranges_)
        owners->ranges.emplace(first, SubordinateOwners::Range{range.range.last, range.user(first)});
    return owners;
}

UserIds SubordinateUsers::idsOf(uid_t user) {
    if (user == 0)
        return {user};
    lookIfDue();
    auto& known = known_[user];
    if (!known.asked && !asking_ && !ranges_.empty())
        askForName(user);
    return {user, known.ranges};
}

void SubordinateUsers::lookIfDue() {
    if (const auto now = parts_.loop.bootTime(); !lookedAt_ || now - *lookedAt_ >= kLookAgain)
        look();
}

void SubordinateUsers::look() {
    if (looking_)
        return;
    lookedAt_ = parts_.loop.bootTime();
    looking_ = parts_.background.ask(
        Lane::Files, [file = parts_.file, known = stamp_] { return lookAt(file, known); },
        [this](Look look) { looked(std::move(look)); });
}

SubordinateUsers::Look SubordinateUsers::lookAt(const std::filesystem::path& file, const Stamp& known) {
    Look look;
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        look.stamp = {-errno};
    else
        look.stamp = {static_cast<std::int64_t>(status.st_ino), status.st_size, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
    if (look.stamp == known)
        return look;
    if (look.stamp == kNoFile) {
        look.ids.emplace();
        return look;
    }
    std::error_code ignored; // for a dangling link, canonical() returns an empty path, and no file is read
    const auto text = S_ISREG(status.st_mode)
                          ? readFile(AT_FDCWD, std::filesystem::canonical(file, ignored).c_str(), kMostBytes + 1)
                          : std::nullopt;
    if (!text)
        look.trouble = "cannot be read" + std::string(kStays);
    else if (text->size() > kMostBytes)
        look.trouble = "has more than 4 MiB" + std::string(kStays);
    else
        look.ids = parseSubordinateIds(*text);
    if (look.ids && !look.ids->wrongLines.empty())
        look.trouble = wrongLines(look.ids->wrongLines);
    return look;
}

void SubordinateUsers::looked(Look look) {
    looking_ = false;
    if (look.stamp == stamp_)
        return;
    stamp_ = look.stamp;
    if (stamp_ == kNoFile)
        parts_.inform(parts_.file.string() +
                      " does not exist: no user has subordinate user ids, so each id counts as a user of its own");
    if (!look.trouble.empty())
        parts_.warn(parts_.file.string() + " " + look.trouble);
    if (!look.ids)
        return;
    ranges_.clear();
    for (auto& [user, known] : known_)
        known.asked = false;
    for (auto& [first, range] : look.ids->ranges) {
        const auto number = parseUnsigned(range.owner);
        ranges_[first] = {std::move(range),
                          number && *number < UINT32_MAX ? std::optional(static_cast<uid_t>(*number)) : std::nullopt};
    }
}

void SubordinateUsers::askForName(uid_t user) {
    asking_ = known_[user].asked = parts_.background.ask(
        Lane::Names, [nameOf = parts_.nameOf, user] { return nameOf(user); },
        [this, user](const Result<std::string>& name) {
            asking_ = false;
            auto& theirs = known_[user].ranges;
            theirs.clear();
            for (auto& [first, range] : ranges_) {
                if (name && range.range.owner == *name)
                    range.owner = user;
                if (range.owner == user)
                    theirs.emplace_back(first, range.range.last);
            }
        });
}

void SubordinateUsers::askFor(uid_t first, Range& range) {
    if (range.asked || asking_)
        return;
    asking_ = range.asked = parts_.background.ask(
        Lane::Names, [find = parts_.findUser, name = range.range.owner] { return find(name); },
        [this, first, name = range.range.owner](const Result<uid_t>& owner) {
            asking_ = false;
            // If /etc/subuid has changed since the question to the name service, `ranges_` possibly lacks the range.
            const auto still = ranges_.find(first);
            if (owner && still != ranges_.end() && still->second.range.owner == name)
                still->second.owner = *owner;
        });
}

} // namespace pinfold
