// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/descriptor_keeper.hpp"

#include <fcntl.h>
#include <systemd/sd-bus.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

// No request of ours has more, and a long message must not cost much more than it takes to receive.
constexpr int kMostElements = 256;

bool mayHaveDescriptors(const char* signature) {
    return signature && std::string_view(signature).find_first_of("hv") != std::string_view::npos;
}

/// From here to the end of the container.
void collect(sd_bus_message* message, std::vector<int>& fds, int& elements) {
    char type = 0;
    const char* contents = nullptr;
    while (++elements <= kMostElements && sd_bus_message_peek_type(message, &type, &contents) > 0) {
        int fd = -1;
        if (type == SD_BUS_TYPE_UNIX_FD) {
            if (sd_bus_message_read_basic(message, type, &fd) < 0)
                return;
            fds.push_back(fd);
        } else if (mayHaveDescriptors(contents) || type == SD_BUS_TYPE_VARIANT) {
            if (sd_bus_message_enter_container(message, type, contents) < 0)
                return;
            collect(message, fds, elements);
            if (sd_bus_message_exit_container(message) < 0)
                return;
        } else if (sd_bus_message_skip(message, nullptr) < 0) {
            return;
        }
    }
}

} // namespace

/// What is kept no longer. It waits until the call that led here has returned: there may be copies on its stack.
struct DescriptorKeeper::Due {
    explicit Due(EventLoop& loopArg) : loop(loopArg) {}

    void add(std::vector<ForeignFd> more) {
        std::move(more.begin(), more.end(), std::back_inserter(fds));
        if (!idle)
            idle = loop.whenIdle([this] {
                idle.reset();
                fds.clear();
            });
    }

    EventLoop& loop;
    std::vector<ForeignFd> fds;
    EventHandle idle;
};

struct DescriptorKeeper::Kept {
    Kept(std::shared_ptr<Due> dueArg, std::vector<ForeignFd> fdsArg) : due(std::move(dueArg)), fds(std::move(fdsArg)) {}
    ~Kept() { due->add(std::move(fds)); }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    std::shared_ptr<Due> due;
    std::vector<ForeignFd> fds;
};

DescriptorKeeper::DescriptorKeeper(EventLoop& loop, DescriptorCloser& closer)
    : closer_(closer), due_(std::make_shared<Due>(loop)) {}

std::shared_ptr<void> DescriptorKeeper::keep(sd_bus_message* message, uid_t owner) {
    if (!mayHaveDescriptors(sd_bus_message_get_signature(message, true)))
        return nullptr;
    std::vector<int> fds;
    int elements = 0;
    collect(message, fds, elements);
    sd_bus_message_rewind(message, true);
    std::vector<ForeignFd> copies;
    for (const int fd : fds)
        if (!isPidfd(fd))
            copies.emplace_back(closer_, owner, UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)));
    return copies.empty() ? nullptr : std::make_shared<Kept>(due_, std::move(copies));
}

} // namespace pinfold
