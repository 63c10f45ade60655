// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs torque-prologue as prologue and prologue.parallel, as root. The prologue opens the job on this host.
#include "adapters/torque/command.hpp"
#include "base/escape.hpp"
#include "base/unique_fd.hpp"
#include "socket_client/failure_policy.hpp"
#include "socket_client/say.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace {

namespace torque = pinfold::torque;

constexpr std::size_t kMaxNodeFile = 4 << 20;

std::string nodeFile(const torque::Environment& environment) {
    const auto path = environment.find("PBS_NODEFILE");
    if (path == environment.end())
        return {};
    const pinfold::UniqueFd file(::open(path->second.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return {};
    std::string text(std::min(static_cast<std::size_t>(status.st_size), kMaxNodeFile), '\0');
    const auto length = ::read(file.get(), text.data(), text.size());
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
}

bool outage(int status) {
    return status == static_cast<int>(pinfold::ExitStatus::Unreachable) ||
           status == static_cast<int>(pinfold::ExitStatus::TimedOut);
}

std::string_view withoutEnd(std::string_view line) {
    while (line.ends_with('\n'))
        line.remove_suffix(1);
    return line;
}

int prologue(char** argv) {
    const auto environment = torque::environmentOf(environ);
    const auto arguments = torque::openArguments(torque::wordsOf(argv), environment, nodeFile(environment));
    if (!arguments) {
        pinfold::say(arguments.error().message);
        return torque::kRequeue;
    }
    const auto opened = torque::runPinfold(*arguments);
    if (opened.status == 0)
        return 0;
    if (outage(opened.status) &&
        pinfold::mayRunUnconfined({pinfold::ErrorCode::Unreachable, "pinfoldd is not reachable"}, (*arguments)[1]))
        return 0;
    // For an interactive job, the prologue's standard error is the user's terminal. For a batch job, the prologue's standard
    // error goes to the job's output file. pbs_mom keeps the job's output file for the next start of the job. The messages about
    // many refusals would fill the job's output file, so the prologue does not write to the file.
    const bool interactive = ::isatty(STDERR_FILENO) == 1;
    if (interactive)
        std::fputs(opened.printed.c_str(), stderr);
    ::openlog("torque-prologue", 0, LOG_DAEMON);
    ::syslog(LOG_ERR, "%s",
             ("job " + pinfold::printable((*arguments)[1], 300) +
              (interactive ? " does not start: " : " goes back to the queue: ") +
              pinfold::printable(withoutEnd(opened.printed), 1000))
                 .c_str());
    return torque::kRequeue;
}

} // namespace

int main(int, char** argv) {
    pinfold::sayAs("torque-prologue");
    try {
        return prologue(argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "torque-prologue: unexpected error: %s\n", error.what());
        return torque::kRequeue;
    }
}
