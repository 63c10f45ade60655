// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/spool_directory.hpp"

#include "adapters/grid_engine/spool_config.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace pinfold {
namespace {

constexpr mode_t kMode = 0644; // sge_shepherd itself creates its files with the mode 0644

} // namespace

EffectiveUser::EffectiveUser(uid_t user) {
    if (::seteuid(user) != 0)
        std::abort(); // if seteuid(2) has failed, the process still has root's rights
}

EffectiveUser::~EffectiveUser() {
    if (::seteuid(0) != 0)
        std::abort();
}

std::string SpoolDirectory::path() const {
    const EffectiveUser admin(admin_);
    std::error_code error;
    return std::filesystem::current_path(error).string();
}

std::optional<std::string> SpoolDirectory::read(const char* name) const {
    const EffectiveUser admin(admin_);
    return readFile(AT_FDCWD, name, kMaxGridEngineFile);
}

Result<void> SpoolDirectory::write(const char* name, std::string_view text) const {
    const EffectiveUser admin(admin_);
    return replaceFile(name, text, kMode);
}

} // namespace pinfold
