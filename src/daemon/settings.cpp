// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/settings.hpp"

#include "base/message_ids.hpp"
#include "base/paths.hpp"
#include "daemon/log.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <syslog.h>

namespace pinfold {

Result<void> Settings::load() {
    auto loaded = loadConfig(ConfigPaths::below(root_));
    if (!loaded)
        return reject(loaded.error());
    for (const auto& warning : loaded->warnings)
        logWarningLine(warning);
    // Warnings do not stop pinfoldd at its start, because there is no older configuration to fall back on. A node whose pinfoldd
    // is older than its site's configuration must come up.
    if (inForce_ && !loaded->warnings.empty())
        return reject({ErrorCode::ConfigInvalid, loaded->warnings.front()});
    config_ = std::move(loaded->config);
    inForce_ = true;
    setLogLevel(config_.daemon.logLevel);
    publishFailurePolicy();
    return {};
}

Error Settings::reject(const Error& why) const {
    journal_.event(
        {LOG_ERR,
         kMessageConfigRejected,
         "configuration rejected" + std::string(inForce_ ? ", the old configuration stays in force" : "") + ": " + why.message,
         {{"PINFOLD_EVENT", "config-rejected"}}});
    return why;
}

void Settings::publishFailurePolicy() const {
    // pinfold-run has no TOML parser, so it reads this file when pinfoldd cannot answer.
    const auto file = inRoot(root_, kFailurePolicyFile);
    const std::string policy = config_.jobs.onFailure == OnFailure::Refuse ? "refuse\n" : "run-unconfined\n";
    if (readFile(AT_FDCWD, file.c_str()) == policy) // the check comes before the write, so that it succeeds even if /run is full
        return;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const auto written = replaceFile(file, policy, 0644);
    if (written)
        return;
    // An old file is removed, because with it a job might run unconfined although the site does not want that any more. Without a
    // file no job runs unconfined.
    std::filesystem::remove(file, error);
    logWarningLine(
        "cannot tell pinfold-run the value of jobs.on_failure, so pinfold-run starts no job while pinfoldd does not run: " +
        written.error().message + (error ? "; " + file.string() + " must be removed" : ""));
}

} // namespace pinfold
