// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/cgroup_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace pinfold {

struct CgroupWatch::Impl {
    using Handler = std::function<void()>;

    UniqueFd inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    EventHandle source;
    std::uint64_t nextId = 1;
    // inotify has one descriptor a file: several watches of the same file share it.
    std::map<int, std::map<std::uint64_t, std::shared_ptr<Handler>>> handlers;

    void drain() {
        alignas(inotify_event) std::array<char, 16384> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
        ssize_t length = 0;
        while ((length = ::read(inotify.get(), buffer.data(), buffer.size())) > 0)
            for (ssize_t at = 0; at < length;) {
                inotify_event event{};
                std::memcpy(&event, buffer.data() + at, sizeof event);
                at += static_cast<ssize_t>(sizeof event + event.len);
                if ((event.mask & IN_Q_OVERFLOW) != 0)
                    tellAll();
                else
                    tell(event.wd);
            }
    }

    void tell(int descriptor) {
        const auto found = handlers.find(descriptor);
        if (found == handlers.end())
            return; // the watch ended while its event was on the way
        const auto copy = found->second;
        for (const auto& [id, handler] : copy)
            if (const auto still = handlers.find(descriptor); still != handlers.end() && still->second.contains(id))
                (*handler)();
    }

    void tellAll() {
        std::vector<int> descriptors;
        for (const auto& [descriptor, list] : handlers)
            descriptors.push_back(descriptor);
        for (const auto descriptor : descriptors)
            tell(descriptor);
    }

    void remove(int descriptor, std::uint64_t id) {
        const auto found = handlers.find(descriptor);
        if (found == handlers.end())
            return;
        found->second.erase(id);
        if (found->second.empty()) {
            handlers.erase(found);
            ::inotify_rm_watch(inotify.get(), descriptor); // fails when the cgroup is gone, which removed it
        }
    }
};

namespace {

template <class Impl> struct WatchHandle : EventSource {
    WatchHandle(std::weak_ptr<Impl> watch, int descriptorArg, std::uint64_t idArg)
        : impl(std::move(watch)), descriptor(descriptorArg), id(idArg) {}
    ~WatchHandle() override {
        if (const auto live = impl.lock())
            live->remove(descriptor, id);
    }
    std::weak_ptr<Impl> impl;
    int descriptor;
    std::uint64_t id;
};

} // namespace

CgroupWatch::CgroupWatch(EventLoop& loop) : impl_(std::make_shared<Impl>()) {
    impl_->source = loop.onReadable(impl_->inotify.get(), [impl = impl_.get()] { impl->drain(); });
}

CgroupWatch::~CgroupWatch() = default;

Result<EventHandle> CgroupWatch::watch(const std::filesystem::path& eventsFile, std::function<void()> handler) {
    const int descriptor = ::inotify_add_watch(impl_->inotify.get(), eventsFile.c_str(), IN_MODIFY | IN_DELETE_SELF);
    if (descriptor < 0)
        return Error{ErrorCode::Internal, "inotify on " + eventsFile.string() + ": " + std::strerror(errno) +
                                              (errno == ENOSPC ? "; raise fs.inotify.max_user_watches" : "")};
    const auto id = impl_->nextId++;
    impl_->handlers[descriptor][id] = std::make_shared<Impl::Handler>(std::move(handler));
    return EventHandle(std::make_unique<WatchHandle<Impl>>(impl_, descriptor, id));
}

} // namespace pinfold
