// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "archive_service/receipt_reader.hpp"
#include "archive_service/request_turns.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pinfold {

/// Reads pages of receipts in a fixed number of threads. Each thread has one connection to the database.
class Workers {
public:
    // At most half of the threads in Workers work on requests of the same user.
    static constexpr std::size_t kThreads = 2 * RequestTurns::kMostAtOnce;

    struct Done {
        std::uint64_t id; ///< the id of the Item that the caller passed to read()
        Result<ReceiptPage> page;
    };

    /// Throws std::system_error if the kernel gives no descriptor or no thread.
    /// `reports` is the directory with the queries of the site report.
    Workers(PostgresServer server, std::filesystem::path reports);
    /// Waits until all threads have finished their work.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Lets a thread read the next page of the answer to the request. Until takeDone() returns the page, the caller must not use
    /// the ReceiptRequest.
    void read(RequestTurns::Item item) { turns_.add(std::move(item)); }
    /// Removes a request if no thread works on it yet.
    void forget(uid_t uid, std::uint64_t id) { turns_.remove(uid, id); }
    /// Returns a descriptor that becomes readable when takeDone() can return at least one page.
    int readable() const { return event_.get(); }
    std::vector<Done> takeDone();

private:
    void work();
    void finish(Done done);

    const PostgresServer server_;
    const std::filesystem::path reports_;
    Outage outage_;
    RequestTurns turns_;
    std::mutex mutex_;
    std::vector<Done> done_;
    UniqueFd event_;
    std::vector<std::thread> threads_;
};

} // namespace pinfold
