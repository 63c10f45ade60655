// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/settings.hpp"

#include "base/message_ids.hpp"
#include "daemon/log.hpp"
#include "os/replace_file.hpp"

#include <syslog.h>

namespace pinfold {

Result<void> Settings::load() {
    auto loaded = loadConfig(ConfigPaths::below(root_));
    if (!loaded)
        return reject(loaded.error());
    for (const auto& warning : loaded->warnings)
        logWarningLine(warning);
    // At the start there is nothing to fall back on, and a node that is behind its site's configuration must come up.
    if (inForce_ && !loaded->warnings.empty())
        return reject({ErrorCode::ConfigInvalid, loaded->warnings.front()});
    config_ = std::move(loaded->config);
    inForce_ = true;
    setLogLevel(config_.daemon.logLevel);
    return publishFailurePolicy();
}

Error Settings::reject(const Error& why) const {
    journal_.event({LOG_ERR,
                    kMessageConfigRejected,
                    "configuration rejected" + std::string(inForce_ ? ", the old one stays in force" : "") + ": " + why.message,
                    {{"PINFOLD_EVENT", "config-rejected"}}});
    return why;
}

Result<void> Settings::publishFailurePolicy() const {
    // pinfold-run has no TOML, and asks when pinfoldd can't answer.
    const auto file = root_ / "run/pinfold/on-failure";
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    return replaceFile(file, config_.jobs.onFailure == OnFailure::RunUnconfined ? "run-unconfined\n" : "refuse\n", 0644);
}

} // namespace pinfold
