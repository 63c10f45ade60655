// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/read_file.hpp"

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pinfold {

std::optional<std::string> readFile(int directory, const char* name, std::size_t maxBytes) {
    const UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd)
        return std::nullopt;
    std::string text;
    std::array<char, 8192> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills the buffer
    while (text.size() < maxBytes) {
        const auto count = ::read(fd.get(), buffer.data(), std::min(buffer.size(), maxBytes - text.size()));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return std::nullopt;
        if (count == 0)
            break;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

} // namespace pinfold
