// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/job_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

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

bool JobOutput::say(const std::string& line) const {
    if (!descriptor_)
        return false;
    // A copy of its own, which the thread closes: each close of a file may flush it.
    const int own = ::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return false;
    const auto text = line + "\n";
    const auto write = [own, text] {
        writeAll(own, text);
        ::close(own);
    };
    // Where too many hang already, the copy stays open: a descriptor is the smaller loss.
    return background_->run(Lane::Output, write, {});
}

} // namespace pinfold
