// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/job_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

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

bool OutputWriters::write(ForeignFd descriptor, std::string text) {
    const bool root = descriptor.owner() == 0;
    const auto writing = root ? nullptr : writing_.enter(descriptor.owner());
    if (!root && !writing) {
        background_.refuse(Lane::Output);
        return false;
    }
    const auto begun = background_.run(
        Lane::Output,
        [fd = descriptor.get(), text = std::move(text)] {
            writeAll(fd, text);
            ::close(fd);
        },
        [writing] {});
    if (begun)
        (void)descriptor.release().release();
    return begun;
}

bool JobOutput::say(const std::string& line) const {
    if (!descriptor_)
        return false;
    auto own = descriptor_.copy(); // the JobOutput can be destroyed before the line is written
    return own && writers_->write(std::move(own), line + "\n");
}

} // namespace pinfold
