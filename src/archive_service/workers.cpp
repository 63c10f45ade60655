// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/workers.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace pinfold {

Workers::Workers(PostgresServer server, std::filesystem::path reports)
    : server_(std::move(server)), reports_(std::move(reports)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    for (std::size_t i = 0; i < kThreads; ++i)
        threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
    turns_.close();
    for (auto& thread : threads_)
        thread.join();
}

void Workers::work() {
    ReceiptReader reader(server_, outage_, reports_);
    while (auto item = turns_.take()) {
        try {
            finish({item->id, reader.nextPage(*item->request)});
        } catch (const std::exception& error) { // an exception can only mean that memory ran out
            finish({item->id, Error{ErrorCode::Internal, std::string("the archive's service failed: ") + error.what()}});
        }
        turns_.finished(item->user);
    }
}

void Workers::finish(Done done) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one); // write(2) to an eventfd fails only if the counter has the value 2^64 - 2
}

std::vector<Workers::Done> Workers::takeDone() {
    std::uint64_t count = 0;
    (void)!::read(event_.get(), &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
}

} // namespace pinfold
