// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_looks.hpp"

#include "os/quiet_thread.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>

namespace pinfold {
namespace {

constexpr std::size_t kMostBytes = 4 << 20; // the maximum size of /etc/subuid in bytes, enough for about 200,000 users

std::string inSeconds(std::chrono::milliseconds time) {
    auto text = std::to_string(time.count() / 1000);
    if (const auto rest = time.count() % 1000; rest != 0)
        text += "." + std::to_string(1000 + rest).substr(1);
    return text + " s";
}

} // namespace

/// Controls a thread that examines processes. The callers that wait for the thread share the object ProcessLooks::Thread with the
/// thread.
class ProcessLooks::Thread {
public:
    /// Throws std::system_error if the kernel cannot start a thread.
    static std::shared_ptr<Thread> start() {
        auto shared = std::make_shared<Thread>();
        startQuietThread([shared] { shared->serve(); });
        return shared;
    }

    /// Calls the function `look` in another thread. Returns false if the function does not return within the time `patience`.
    /// After the time `patience`, the function `look` continues to run in the other thread.
    bool make(std::function<void()> look, std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        look_ = std::move(look);
        changed_.notify_all();
        return changed_.wait_for(lock, patience, [this] { return !look_; });
    }
    /// Tells the thread that it must end as soon as `look` returns.
    void dismiss() {
        const std::lock_guard lock(mutex_);
        dismissed_ = true;
        changed_.notify_all();
    }
    bool hangs() {
        const std::lock_guard lock(mutex_);
        return static_cast<bool>(look_);
    }

private:
    void serve() {
        std::unique_lock lock(mutex_);
        while (!dismissed_) {
            changed_.wait(lock, [this] { return dismissed_ || look_; });
            if (!look_)
                return;
            lock.unlock();
            look_(); // no other thread changes look_ while this thread works
            lock.lock();
            look_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> look_;
    bool dismissed_ = false;
};

ProcessLooks::~ProcessLooks() {
    if (thread_)
        thread_->dismiss();
}

Result<void> ProcessLooks::run(pid_t pid, uid_t user, std::function<void()> look) {
    std::erase_if(leftBehind_, [](const LeftBehind& one) { return !one.thread->hangs(); });
    const auto who = ownerOf(subordinates_, user);
    if (auto may = allowed(pid, user, who); !may)
        return may;
    try {
        if (!thread_)
            thread_ = Thread::start();
    } catch (const std::system_error& error) {
        return Error{ErrorCode::Internal, std::string("cannot start a thread that examines processes: ") + error.what()};
    }
    const auto begun = std::chrono::steady_clock::now();
    const bool done = thread_->make(std::move(look), patience_);
    spent_[who] += std::chrono::steady_clock::now() - begun;
    if (done)
        return {};
    thread_->dismiss();
    leftBehind_.push_back({std::move(thread_), pid, who});
    return Error{ErrorCode::TimedOut, "process " + std::to_string(pid) + " of user " + std::to_string(user) +
                                          " cannot be examined: it hangs, and did not answer within " + inSeconds(patience_)};
}

Result<void> ProcessLooks::allowed(pid_t pid, uid_t user, const std::string& who) const {
    const auto count = [this](const auto& which) { return std::count_if(leftBehind_.begin(), leftBehind_.end(), which); };
    const auto most = [](std::size_t number) { return static_cast<std::ptrdiff_t>(number); };
    const auto root = ownerOf(subordinates_, 0);
    std::string why;
    if (count([pid](const LeftBehind& one) { return one.pid == pid; }) > 0)
        why = "the previous examination of this process still hangs";
    else if (count([&who](const LeftBehind& one) { return one.who == who; }) >= most(kMostOfOne))
        why = std::to_string(kMostOfOne) + " examinations of this user's processes still hang";
    else if (who != root && count([&root](const LeftBehind& one) { return one.who != root; }) >= most(kMostOfUsers))
        why = std::to_string(kMostOfUsers) + " examinations of ordinary users' processes still hang";
    else if (const auto spent = spent_.find(who); who != root && spent != spent_.end() && spent->second >= timeOfOne_)
        why = "examinations of processes of this user have taken " + inSeconds(timeOfOne_) + " already";
    if (why.empty())
        return {};
    return Error{ErrorCode::Busy,
                 "process " + std::to_string(pid) + " of user " + std::to_string(user) + " was not examined: " + why};
}

SubordinateIds readSubordinateIds(const char* file) {
    std::error_code ignored; // after an error, the path is empty, and readFile() fails
    return parseSubordinateIds(readFile(AT_FDCWD, std::filesystem::canonical(file, ignored).c_str(), kMostBytes).value_or(""));
}

} // namespace pinfold
