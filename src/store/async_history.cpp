// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/async_history.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace pinfold {
namespace {

Error busy() { return {ErrorCode::Busy, "too many requests wait for the history: try again later"}; }

} // namespace

/// Writes the history. Only one thread uses a Writer, because the queue Lane::HistoryWrite has only one thread.
struct AsyncHistory::Writer {
    Writer(const std::filesystem::path& path, const std::function<void()>& beforeMigration)
        : file(path, [this, beforeMigration] {
              migrating = true;
              if (beforeMigration)
                  beforeMigration();
          }) {}

    HistoryFile file;
    std::atomic<bool> migrating = false;
};

/// Reads the history. Several threads use one Readers object at the same time. Each query has its own connection to the database.
struct AsyncHistory::Readers {
    struct Reader {
        History history;
        ino_t inode = 0;
    };
    template <class T> struct Read {
        Result<T> result;
        ino_t inode = 0; ///< the inode of the file that was read
    };

    explicit Readers(std::filesystem::path path) : file(std::move(path)) {}

    template <class T> Read<T> read(const std::function<Result<T>(const History&)>& use) {
        auto reader = take();
        if (!reader)
            return {reader.error(), inodeOf(file)};
        Read<T> read{use(reader->history), reader->inode};
        if (read.result && reader->history.followsWriters())
            giveBack(std::move(*reader));
        return read;
    }

private:
    Result<Reader> take() {
        const auto inode = inodeOf(file);
        {
            const std::lock_guard lock(mutex);
            while (!idle.empty()) {
                auto reader = std::move(idle.back());
                idle.pop_back();
                if (reader.inode == inode)
                    return reader;
            }
        }
        auto opened = History::open(file, History::Mode::ReadOnly);
        if (!opened)
            return opened.error();
        return Reader{*std::move(opened), inode};
    }
    void giveBack(Reader reader) {
        const std::lock_guard lock(mutex);
        idle.push_back(std::move(reader));
    }

    const std::filesystem::path file;
    std::mutex mutex;
    std::vector<Reader> idle;
};

AsyncHistory::AsyncHistory(Background& background, const std::filesystem::path& file, std::function<void()> beforeMigration)
    : background_(background), writer_(std::make_shared<Writer>(file, std::move(beforeMigration))),
      readers_(std::make_shared<Readers>(file)), self_(std::make_shared<AsyncHistory*>(this)) {}

AsyncHistory::~AsyncHistory() { *self_ = nullptr; }

bool AsyncHistory::migrating() const { return writer_->migrating; }

template <class T> void AsyncHistory::inTurn(std::function<Result<T>(History&)> use, Reply<T> reply) {
    struct Done {
        Result<T> result;
        HistoryFile::News news;
    };
    const bool taken = background_.ask(
        Lane::HistoryWrite,
        [writer = writer_, use = std::move(use)] {
            auto result = writer->file.use(use);
            writer->migrating = false;
            return Done{std::move(result), writer->file.takeNews()};
        },
        [self = self_, reply](Done done) {
            if (!*self)
                return;
            (*self)->tell(done.news);
            reply(std::move(done.result));
        });
    if (!taken)
        reply(busy());
}

void AsyncHistory::tell(const HistoryFile::News& news) const {
    if (news.damage && onDamage)
        onDamage(*news.damage);
    if (news.lastManualNumber && onOpened)
        onOpened(*news.lastManualNumber);
}

void AsyncHistory::write(HistoryChanges changes, Reply<std::vector<Receipt>> reply) {
    inTurn<std::vector<Receipt>>([changes = std::move(changes)](History& history) { return history.write(changes); },
                                 std::move(reply));
}

void AsyncHistory::vacuum(const Retention& retention, RealTime now, std::size_t maxRows, Reply<Vacuumed> reply) {
    inTurn<Vacuumed>([=](History& history) { return history.vacuum(retention, now, maxRows); }, std::move(reply));
}

void AsyncHistory::tryVacuum(const Retention& retention, RealTime now, std::size_t maxRows, Microseconds patience,
                             Reply<Vacuumed> reply) {
    inTurn<Vacuumed>([=](History& history) { return history.tryVacuum(retention, now, maxRows, patience); }, std::move(reply));
}

void AsyncHistory::live(Reply<LiveTable> reply) {
    inTurn<LiveTable>([](History& history) { return history.live(); }, std::move(reply));
}

template <class T> void AsyncHistory::whileWriting(std::function<Result<T>(const History&)> use, Reply<T> reply) {
    const bool taken = background_.ask(
        Lane::HistoryRead, [readers = readers_, use = std::move(use)] { return readers->read<T>(use); },
        [self = self_, reply](Readers::Read<T> read) {
            if (!*self)
                return;
            if (read.result || read.result.error().code != ErrorCode::Damaged)
                return reply(std::move(read.result));
            (*self)->distrust(read.inode, read.result.error().message);
            reply(Error{ErrorCode::Internal, read.result.error().message});
        });
    if (!taken)
        reply(busy());
}

void AsyncHistory::list(ReceiptFilter filter, Reply<std::vector<Receipt>> reply) {
    whileWriting<std::vector<Receipt>>([filter = std::move(filter)](const History& history) { return history.list(filter); },
                                       std::move(reply));
}

void AsyncHistory::profile(const std::string& id, Reply<std::string> reply) {
    whileWriting<std::string>([id](const History& history) { return history.profile(id); }, std::move(reply));
}

void AsyncHistory::unsent(const std::filesystem::path& sentFile, Reply<std::uint64_t> reply) {
    whileWriting<std::uint64_t>([sentFile](const History& history) { return history.unsent(sentFile); }, std::move(reply));
}

void AsyncHistory::distrust(ino_t inode, const std::string& why) {
    // A failure of ask() or distrust() does not matter, because the next query finds the damage again.
    (void)background_.ask(
        Lane::HistoryWrite,
        [writer = writer_, inode, why] {
            (void)writer->file.distrust(inode, why);
            return writer->file.takeNews();
        },
        [self = self_](const HistoryFile::News& news) {
            if (*self)
                (*self)->tell(news);
        });
}

} // namespace pinfold
