// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/settings.hpp"

#include "base/message_ids.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "daemon/log.hpp"
#include "model/metrics.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <syslog.h>

namespace pinfold {
namespace {

/// Returns one line with the first warning and the number of the remaining warnings. The list must contain at least one
/// warning.
std::string inWords(const std::vector<std::string>& warnings) {
    const auto more = warnings.size() - 1;
    return warnings.front() +
           (more == 0 ? "" : "; " + counted(more, "more warning", "more warnings") + ": see `pinfold check-config`");
}

} // namespace

Result<void> Settings::load() {
    auto loaded = loadConfig(ConfigPaths::below(root_));
    if (!loaded)
        return reject(loaded.error());
    // At its start, pinfoldd accepts a configuration with warnings, because pinfoldd has no earlier configuration. If the site's
    // configuration is for a newer pinfold and has unknown keys, pinfoldd must still start.
    if (inForce_ && !loaded->warnings.empty())
        return reject({ErrorCode::ConfigInvalid, inWords(loaded->warnings)});
    for (const auto& warning : loaded->warnings)
        logWarningLine(warning);
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
         {{"PINFOLD_EVENT", "config-rejected"}, {"PINFOLD_TROUBLE", std::string(toString(Trouble::Config))}}});
    return why;
}

void Settings::publishFailurePolicy() const {
    // If pinfoldd does not answer, the setting jobs.on_failure tells pinfold-run what to do. pinfold-run has no TOML parser, so
    // pinfoldd writes the setting into a separate file.
    const auto file = inRoot(root_, kFailurePolicyFile);
    const std::string policy = config_.jobs.onFailure == OnFailure::Refuse ? "refuse\n" : "run-unconfined\n";
    // If jobs.on_failure has not changed, Settings keeps the file as it is. A failed write, for example while /run is full,
    // would remove the file.
    if (readFile(AT_FDCWD, file.c_str()) == policy)
        return;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const auto written = replaceFile(file, policy, 0644);
    if (written)
        return;
    // If pinfoldd cannot write the file, pinfoldd removes the old file. pinfold-run must not read an old file, because the old
    // file possibly allows jobs without a scope. If the file is missing, pinfold-run refuses to run a job without a scope.
    std::filesystem::remove(file, error);
    logWarningLine(
        "cannot tell pinfold-run the value of jobs.on_failure, so pinfold-run starts no job while pinfoldd does not run: " +
        written.error().message + (error ? "; " + file.string() + " must be removed" : ""));
}

} // namespace pinfold
