// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the file history.db open between the writes of pinfoldd. HistoryFile opens the file at the first use, and replaces the
// file if the file is damaged or has been removed.
#pragma once

#include "store/history.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Only one thread at a time may use a HistoryFile.
class HistoryFile {
public:
    /// HistoryFile passes `beforeMigration` to History::open().
    explicit HistoryFile(std::filesystem::path file, std::function<void()> beforeMigration = {});

    /// Holds what happened to the file since the last call of takeNews().
    struct News {
        std::optional<std::uint64_t> lastManualNumber; ///< the result of History::lastManualNumber(); set if the file was opened
        /// If HistoryFile has moved a damaged file aside, the text says what was wrong, and where the file is now.
        std::optional<std::string> damage;
    };
    News takeNews() { return std::exchange(news_, {}); }

    /// Calls `use` with the open history. If the file turns out to be damaged, HistoryFile moves it aside, and calls `use` again
    /// with a new file. HistoryFile closes the file after every error except Damaged, because the open connection to the database
    /// could have caused the error. Error: Internal.
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

    /// Call distrust() if a reader has found that the file with the inode `inode` is damaged.
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

/// Returns the file's inode, or 0 if the file does not exist.
ino_t inodeOf(const std::filesystem::path& file);

} // namespace pinfold
