// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/settings.hpp"

#include "base/message_ids.hpp"
#include "daemon/log.hpp"

#include <sys/stat.h>
#include <syslog.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace pinfold {

Result<void> Settings::load() {
    auto loaded = loadConfig(ConfigPaths::below(root_));
    if (!loaded) {
        journal_.event({LOG_ERR,
                        kMessageConfigRejected,
                        "configuration rejected, the old one stays in force: " + loaded.error().message,
                        {{"PINFOLD_EVENT", "config-rejected"}}});
        return loaded.error();
    }
    for (const auto& warning : loaded->warnings)
        logWarningLine(warning);
    config_ = std::move(loaded->config);
    setLogLevel(config_.daemon.logLevel);
    return publishFailurePolicy();
}

Result<void> Settings::publishFailurePolicy() const {
    // pinfold-run has no TOML, and asks when pinfoldd can't answer.
    const auto file = root_ / "run/pinfold/on-failure";
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const auto temporary = root_ / "run/pinfold/.on-failure.tmp";
    {
        std::ofstream out(temporary, std::ios::trunc);
        out << (config_.jobs.onFailure == OnFailure::RunUnconfined ? "run-unconfined" : "refuse") << "\n";
    }
    if (::chmod(temporary.c_str(), 0644) != 0)
        return Error{ErrorCode::Internal, temporary.string() + ": " + std::strerror(errno)};
    std::filesystem::rename(temporary, file, error);
    if (error)
        return Error{ErrorCode::Internal, file.string() + ": " + error.message()};
    return {};
}

} // namespace pinfold
