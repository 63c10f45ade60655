// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/host_name.hpp"

#include "base/escape.hpp"

#include <unistd.h>

#include <array>
#include <climits>

namespace pinfold {

std::string hostName() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : std::string();
}

} // namespace pinfold
