// SPDX-License-Identifier: LGPL-2.1-or-later
// history.db as pinfoldd writes it: opened when it is needed, and replaced when it is damaged or has gone.
#pragma once

#include "os/history.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Of one thread at a time.
class HistoryFile {
public:
    /// `beforeMigration` as of History::open().
    explicit HistoryFile(std::filesystem::path file, std::function<void()> beforeMigration = {});

    /// What use() met with besides, and which has not been taken yet.
    struct News {
        std::optional<std::uint64_t> lastManualNumber; ///< the file was opened: History::lastManualNumber()
        std::optional<std::string> damage;             ///< a damaged file was moved aside: what was wrong, and where it is now
    };
    News takeNews() { return std::exchange(news_, {}); }

    /// Calls `use` with the open history. When the file turns out to be damaged it is moved aside, and `use` is called again with
    /// a new one. After any other error it is closed, since what went wrong may be the connection's. Error: Internal.
    template <class T> Result<T> use(const std::function<Result<T>(History&)>& use) {
        auto done = attempt(use);
        if (!done && done.error().code == ErrorCode::Damaged) {
            auto moved = moveAside(done.error().message);
            done = moved ? attempt(use) : Result<T>(moved.error());
        }
        if (done)
            return done;
        history_.reset();
        return Error{ErrorCode::Internal, done.error().message};
    }

    /// Somebody has found the file damaged which has this inode.
    Result<void> distrust(ino_t inode, const std::string& why);

private:
    template <class T> Result<T> attempt(const std::function<Result<T>(History&)>& use) {
        auto ready = open();
        return ready ? use(*history_) : Result<T>(ready.error());
    }
    Result<void> open();
    Result<void> moveAside(const std::string& why);

    std::filesystem::path file_;
    std::function<void()> beforeMigration_;
    std::optional<History> history_;
    ino_t inode_ = 0; ///< of the open file
    News news_;
};

/// 0: there is no such file.
ino_t inodeOf(const std::filesystem::path& file);

} // namespace pinfold
