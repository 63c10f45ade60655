// SPDX-License-Identifier: LGPL-2.1-or-later
// history.db as pinfoldd writes it. The file is opened when it is needed, and replaced when it is damaged or has gone.
#pragma once

#include "store/history.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// One thread at a time may use this.
class HistoryFile {
public:
    /// `beforeMigration`: as in History::open().
    explicit HistoryFile(std::filesystem::path file, std::function<void()> beforeMigration = {});

    /// What use() has noticed besides, as far as takeNews() has not returned it yet.
    struct News {
        std::optional<std::uint64_t> lastManualNumber; ///< the file was opened: History::lastManualNumber()
        std::optional<std::string> damage;             ///< a damaged file was moved aside: what was wrong, and where it is now
    };
    News takeNews() { return std::exchange(news_, {}); }

    /// Calls `use` with the open history. If the file turns out to be damaged, it is moved aside, and `use` is called again with
    /// a new file. After any other error the file is closed, since the fault may be in the connection. Error: Internal.
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

    /// Call this when somebody has found the file with this inode damaged.
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
    ino_t inode_ = 0; ///< the inode of the open file
    News news_;
};

/// The file's inode. 0: the file does not exist.
ino_t inodeOf(const std::filesystem::path& file);

} // namespace pinfold
