// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace pinfold {
namespace {

/// Matches what pinfoldd, root's other programs and systemd have said about the job, and what the job's own processes have said. Every user may write
/// PINFOLD_JOB= and UNIT= into the journal, so we match the sender as well, by fields that journald writes itself.
std::vector<std::string> matchesOf(const JobKey& key) {
    return {"PINFOLD_JOB=" + key.text(),
            "_UID=0",
            "+",
            "UNIT=" + key.sliceName(),
            "UNIT=" + key.scopeName(0),
            "_PID=1",
            "+",
            "_SYSTEMD_SLICE=" + key.sliceName()};
}

} // namespace

/// Replaces this process with journalctl.
ExitStatus verbLogs(const VerbContext& context) {
    const auto& line = context.line;
    const auto key = JobKey::parse(line.job);
    if (!key)
        return fail(key.error());
    std::vector<std::string> words{"journalctl", line.json ? "--output=json" : "--output=short-iso"};
    if (!line.terminal.pager)
        words.emplace_back("--no-pager");
    if (line.follow)
        words.emplace_back("--follow");
    if (line.lines)
        words.push_back("--lines=" + std::to_string(*line.lines));
    for (auto& match : matchesOf(*key))
        words.push_back(std::move(match));
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail({ErrorCode::Internal, std::string("cannot run journalctl: ") + std::strerror(errno)});
}

} // namespace pinfold
