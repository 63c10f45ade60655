// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/become_archive_admin.hpp"

#include "build_config.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace pinfold {

void becomeArchiveAdmin(int argc, char** argv) {
    const auto* const verb = std::find_if(argv + std::min(argc, 1), argv + argc, [](const char* word) { return *word != '-'; });
    if (verb != argv + argc && std::string_view(*verb) == "archive")
        ::execv(PINFOLD_LIBEXEC "/archive-admin", argv);
}

} // namespace pinfold
