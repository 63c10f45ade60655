// SPDX-License-Identifier: LGPL-2.1-or-later
// history.db for the loop. Requests are done in the lanes of the history, and answered on the loop.
#pragma once

#include "os/background.hpp"
#include "store/history_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pinfold {

class AsyncHistory {
public:
    template <class T> using Reply = std::function<void(Result<T>)>;

    /// `beforeMigration`: a thread calls it, see History::open().
    AsyncHistory(Background& background, const std::filesystem::path& file, std::function<void()> beforeMigration = {});
    ~AsyncHistory();

    /// Opens the file, if it is not open, and writes. Each call is a transaction of its own; transactions are in the order of the
    /// calls. The answer has the receipts that were stored already. Error: Internal, and then nothing was written.
    void write(HistoryChanges changes, Reply<std::vector<Receipt>> reply);
    /// As History::vacuum(). It takes its turn with write(). Errors: Internal; Busy.
    void vacuum(const Retention& retention, std::uint64_t now, std::size_t maxRows, Reply<Vacuumed> reply);
    /// As History::live(). It takes its turn with write(). Errors: Internal; Busy.
    void live(Reply<LiveTable> reply);
    /// As History::list(). It does not wait for write() and vacuum(). Errors: Internal; Busy when too many wait.
    void list(ReceiptFilter filter, Reply<std::vector<Receipt>> reply);

    /// True: a file of an older pinfold is being brought to the newest schema.
    bool migrating() const;

    std::function<void(std::uint64_t lastManualNumber)> onOpened;
    std::function<void(const std::string& words)> onDamage; ///< called when a damaged file was moved aside

private:
    struct Writer;
    struct Readers;
    template <class T> void inTurn(std::function<Result<T>(History&)> use, Reply<T> reply);
    void tell(const HistoryFile::News& news) const;
    void distrust(ino_t inode, const std::string& why);

    Background& background_;
    std::shared_ptr<Writer> writer_;
    std::shared_ptr<Readers> readers_;
    std::shared_ptr<AsyncHistory*> self_; ///< for completions; null when this object has gone
};

} // namespace pinfold
