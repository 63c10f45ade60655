// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs torque-job-starter as its $job_starter. The job starter puts its own process into the scope of the job, and then
// executes the job's command. When the job starter runs, pbs_mom believes that the job has already started. The exit status of
// the job starter cannot put the job back into the queue, but the exit status of the prologue can.
#include "adapters/torque/command.hpp"
#include "adapters/torque/credentials.hpp"
#include "base/error_code.hpp"
#include "base/escape.hpp"
#include "socket_client/failure_policy.hpp"
#include "socket_client/say.hpp"
#include "wrapper/command.hpp"
#include "wrapper/in_place.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace {

using pinfold::Error;
using pinfold::ErrorCode;
using pinfold::Result;
using pinfold::WrapperRole;
namespace torque = pinfold::torque;

Result<torque::Task> whatToStart() {
    if (::getuid() != 0 && ::geteuid() != 0)
        return torque::startedTask(torque::environmentOf(environ));
    const char* cookie = std::getenv("PBS_JOBCOOKIE");
    const auto owner = torque::identify(cookie ? cookie : "");
    if (!owner)
        return owner.error();
    if (auto became = torque::become(*owner); !became)
        return became.error();
    auto environment = torque::environmentOf(environ);
    environment.insert_or_assign("PBS_JOBID", owner->jobId);
    return torque::startedTask(environment);
}

Result<void> join(torque::Task& task) {
    auto entered = pinfold::enterScope({.key = task.key, .limits = {}, .role = task.role});
    if (!entered && entered.error().code == ErrorCode::AlreadyExists && task.role == WrapperRole::Batch) {
        task.role = WrapperRole::Task;
        entered = pinfold::enterScope({.key = task.key, .limits = {}, .role = task.role});
    }
    if (entered)
        return {};
    // If the job is not open, the site's setting on_failure decides whether the job runs. While pinfoldd does not run, the
    // prologue cannot open a job, but can let the job start.
    const bool notOpened = entered.error().code == ErrorCode::NoSuchJob;
    const Error error = notOpened ? Error{ErrorCode::Unreachable, "job " + pinfold::printable(task.key, 300) +
                                                                      " is not open on this node: pbs_mom's prologue and "
                                                                      "prologue.parallel must call torque-prologue"}
                                  : entered.error();
    return pinfold::mayRunUnconfined(error, task.key) ? Result<void>() : error;
}

/// Returns true if the job wants a login shell. pbs_mom does not tell the job starter whether $source_login_batch is off. If a
/// site has switched $source_login_batch off, pbs_mom starts the job starter under a name that ends with "-nologin".
bool wantsLogin(std::string_view ownName) { return !ownName.ends_with("-nologin"); }

/// Replaces the process of the job starter by the user's shell. If the shell cannot be started, the result is errno.
int becomeShell(char** command, bool login) {
    char* const shell = command[0];
    auto name = torque::loginName(shell);
    command[0] = login ? name.data() : shell;
    ::execv(shell, command);
    command[0] = shell;
    return errno;
}

int start(std::string_view ownName, char** command) {
    if (!*command) {
        pinfold::say("no command to run: only pbs_mom calls this program, as its $job_starter");
        return pinfold::kRunFailed;
    }
    auto task = whatToStart();
    if (!task) {
        pinfold::say(task.error().message);
        return pinfold::kRunFailed;
    }
    if (auto joined = join(*task); !joined) {
        pinfold::say(joined.error().message);
        return pinfold::kRunFailed;
    }
    const int error =
        task->role == WrapperRole::Batch ? becomeShell(command, wantsLogin(ownName)) : pinfold::execCommand(command[0], command);
    pinfold::say(pinfold::describeExecFailure(command[0], error));
    return pinfold::execFailureStatus(error);
}

} // namespace

int main(int argc, char** argv) {
    pinfold::sayAs("torque-job-starter");
    try {
        return argc > 0 ? start(argv[0], argv + 1) : pinfold::kRunFailed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "torque-job-starter: unexpected error: %s\n", error.what());
        return pinfold::kRunFailed;
    }
}
