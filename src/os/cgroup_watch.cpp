// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/cgroup_watch.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace pinfold {

struct CgroupWatch::Impl {
    using Handler = std::function<void()>;
    struct Entry {
        std::filesystem::path file;
        std::shared_ptr<Handler> handler;
    };

    Impl(EventLoop& eventLoop, AddWatch add) : loop(eventLoop), addWatch(add) {}

    EventLoop& loop;
    AddWatch addWatch;
    UniqueFd inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    EventHandle source;
    std::uint64_t nextId = 1;
    // Maps each watch descriptor to the handlers of the file. For each file, inotify has one watch descriptor, so several
    // registrations for the same file share one watch descriptor.
    std::map<int, std::map<std::uint64_t, std::shared_ptr<Handler>>> handlers;
    std::map<std::uint64_t, int> descriptors; ///< the inotify watch descriptor of each registration that has a watch
    std::map<std::uint64_t, Entry> unwatched; ///< the registrations for which the kernel refused a watch
    EventHandle timer;                        ///< the timer that runs as long as `unwatched` has entries

    void drain() {
        // CgroupWatch reads one event at a time. If a handler throws an exception, the kernel keeps the events that CgroupWatch
        // has not read yet. For a watched file, inotify adds no name to the event.
        inotify_event event{};
        while (::read(inotify.get(), &event, sizeof event) > 0)
            if ((event.mask & IN_Q_OVERFLOW) != 0)
                tellAll();
            else
                tell(event.wd);
    }

    void tell(int descriptor) {
        const auto found = handlers.find(descriptor);
        if (found == handlers.end())
            return; // somebody destroyed the registration's EventHandle while the event was in the queue
        const auto copy = found->second;
        for (const auto& [id, handler] : copy)
            if (const auto still = handlers.find(descriptor); still != handlers.end() && still->second.contains(id))
                (*handler)();
    }

    void tellAll() {
        std::vector<int> all;
        for (const auto& [descriptor, list] : handlers)
            all.push_back(descriptor);
        for (const auto descriptor : all)
            tell(descriptor);
    }

    /// Begins to watch the file. Returns false and sets errno if inotify cannot watch the file.
    bool begin(std::uint64_t id, const Entry& entry) {
        const int descriptor = addWatch(inotify.get(), entry.file.c_str(), IN_MODIFY | IN_DELETE_SELF);
        if (descriptor < 0)
            return false;
        handlers[descriptor][id] = entry.handler;
        descriptors[id] = descriptor;
        return true;
    }

    void lookLater() {
        timer = unwatched.empty() ? nullptr : loop.after(kLookAgain, [this] { lookAtUnwatched(); });
    }

    /// Calls the handlers of all unwatched files as if the files had changed. If a file has not changed, calling the file's
    /// handler is harmless, because each handler looks at the state of the cgroup.
    void lookAtUnwatched() {
        // lookAtUnwatched() sets the next timer before it calls handlers. If a handler throws an exception, the timer is already
        // set.
        lookLater();
        const auto copy = unwatched;
        for (const auto& [id, entry] : copy) {
            if (!unwatched.contains(id))
                continue; // the handler of another registration has ended the registration `id`
            if (begin(id, entry))
                unwatched.erase(id);
            (*entry.handler)();
        }
        if (unwatched.empty())
            timer.reset();
    }

    void remove(std::uint64_t id) {
        unwatched.erase(id);
        const auto watched = descriptors.extract(id);
        if (!watched)
            return;
        const auto descriptor = watched.mapped();
        const auto found = handlers.find(descriptor);
        if (found == handlers.end())
            return;
        found->second.erase(id);
        if (found->second.empty()) {
            handlers.erase(found);
            // If the cgroup is gone, the kernel has already removed the watch, and inotify_rm_watch() fails.
            ::inotify_rm_watch(inotify.get(), descriptor);
        }
    }
};

namespace {

template <class Impl> struct WatchHandle : EventSource {
    WatchHandle(std::weak_ptr<Impl> watch, std::uint64_t idArg) : impl(std::move(watch)), id(idArg) {}
    ~WatchHandle() override {
        if (const auto live = impl.lock())
            live->remove(id);
    }
    std::weak_ptr<Impl> impl;
    std::uint64_t id;
};

} // namespace

CgroupWatch::CgroupWatch(EventLoop& loop, AddWatch addWatch) : impl_(std::make_shared<Impl>(loop, addWatch)) {
    impl_->source = loop.onReadable(impl_->inotify.get(), [impl = impl_.get()] { impl->drain(); });
}

CgroupWatch::~CgroupWatch() = default;

Result<EventHandle> CgroupWatch::watch(const std::filesystem::path& eventsFile, std::function<void()> handler) {
    const auto id = impl_->nextId++;
    Impl::Entry entry{eventsFile, std::make_shared<Impl::Handler>(std::move(handler))};
    if (!impl_->begin(id, entry)) {
        if (errno != ENOSPC)
            return Error{ErrorCode::Internal, "inotify on " + eventsFile.string() + ": " + std::strerror(errno)};
        if (impl_->unwatched.empty() && onExhausted)
            onExhausted("the kernel has no inotify watches left, so pinfoldd notices ends of jobs up to a second late: raise "
                        "fs.inotify.max_user_watches");
        impl_->unwatched.emplace(id, std::move(entry));
        if (!impl_->timer)
            impl_->lookLater();
    }
    return EventHandle(std::make_unique<WatchHandle<Impl>>(impl_, id));
}

} // namespace pinfold
