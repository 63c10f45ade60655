// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/job_output.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace pinfold {
namespace {

std::atomic<int> threads = 0;

/// Runs `work` in a thread of its own. A thread and not a process: fork() would have to copy pinfoldd's page tables.
template <class F> bool aside(F&& work) {
    if (threads.fetch_add(1) >= JobOutput::kMostThreads) {
        --threads;
        return false;
    }
    // Signals are the loop's.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
        std::thread([work = std::forward<F>(work)]() mutable {
            work();
            work = {};
            --threads;
        }).detach();
    } catch (const std::system_error&) { // no thread to be had
        --threads;
        started = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

/// Pipes, sockets and devices are closed at once. By the link's text, since even fstat(2) asks a file server.
bool closesAtOnce(int fd) {
    std::array<char, 32> target{};
    const auto length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target.data(), target.size());
    const std::string_view text(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return text.starts_with("pipe:[") || text.starts_with("socket:[") || text.starts_with("/dev/");
}

void writeAll(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

} // namespace

struct JobOutput::Descriptor {
    explicit Descriptor(UniqueFd descriptor) : fd(std::move(descriptor)), atOnce(closesAtOnce(fd.get())) {}
    ~Descriptor() {
        if (atOnce)
            return;
        const int raw = fd.release();
        struct Close {
            int raw = -1;
            void operator()() const {
                if (raw >= 0)
                    ::close(raw);
            }
        };
        // Where too many hang already, it stays open: a descriptor is the smaller loss.
        (void)aside(Close{raw});
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    UniqueFd fd;
    bool atOnce;
};

JobOutput::JobOutput(UniqueFd descriptor) {
    if (descriptor)
        descriptor_ = std::make_shared<Descriptor>(std::move(descriptor));
}

bool JobOutput::say(const std::string& line) const {
    struct Write {
        std::shared_ptr<Descriptor> descriptor;
        std::string text;
        void operator()() const {
            if (descriptor)
                writeAll(descriptor->fd.get(), text);
        }
    };
    return descriptor_ && aside(Write{descriptor_, line + "\n"});
}

} // namespace pinfold
