// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/login.hpp"

#include "base/deadline.hpp"
#include "base/error_code.hpp"
#include "base/escape.hpp"
#include "os/process.hpp"
#include "pam/choice.hpp"
#include "pam/origin.hpp"
#include "socket_client/daemon_link.hpp"

#include <unistd.h>

#include <optional>
#include <utility>

namespace pinfold::pam {
namespace {

enum class Phase { Account, Session };

int codeFor(Phase phase, ErrorCode code) { return phase == Phase::Account ? errorRow(code).pamCode : kPamSessionErr; }

std::string who(const Login& login) { return "user " + printable(login.user, 100); }

Result<Jobs> jobsOf(uid_t uid, const Deadline& deadline, const std::string& socket) {
    DaemonLink link(socket);
    link.list({uid}, deadline.remaining());
    auto answer = link.wait();
    if (!answer)
        return answer.error();
    if (!answer->jobs)
        return Error{ErrorCode::Internal, "pinfoldd's answer names no jobs: is pinfoldd older than this module?"};
    return std::move(*answer->jobs);
}

std::string ownCgroup() {
    auto path = ProcessTable().cgroupOf(::getpid());
    return path ? std::move(*path) : std::string();
}

/// Asks pinfoldd to adopt the calling process. pinfoldd's answer can be lost or wrong, so adopt() also asks the kernel in which
/// cgroup the calling process is.
Result<WrapperReply> adopt(const std::string& key, uid_t owner, const Deadline& deadline, const std::string& socket) {
    const auto self = openPidfd(::getpid());
    if (!self)
        return self.error();
    DaemonLink link(socket);
    link.adopt({key, owner}, self->get(), deadline.remaining());
    auto answer = link.wait();
    const auto cgroup = ownCgroup();
    if (cgroup.starts_with(cgroupsOf(key)))
        return answer ? std::move(answer) : Result<WrapperReply>(WrapperReply{key, {}, {}, {}});
    if (!answer)
        return answer.error();
    return Error{ErrorCode::SystemdFailed, "pinfoldd says that the login is in task " + std::to_string(answer->task.value_or(0)) +
                                               " of job " + key + ", but the login is in " + printable(cgroup, 300)};
}

/// Returns the outcome of a login if an error on the node prevents the usual decision.
Outcome failed(Phase phase, const Login& login, const PamOptions& options, const Error& failure, std::string toUser) {
    if (login.admitted)
        return {.toLog = who(login) + " is admitted as a member of an admitted group: " + failure.message,
                .priority = LOG_WARNING};
    if (options.admitOnFailure)
        return {.toLog = who(login) + " is admitted because of on_failure=admit: " + failure.message, .priority = LOG_WARNING};
    return {.pamCode = codeFor(phase, failure.code),
            .toUser = std::move(toUser),
            .toLog = who(login) + " is refused: " + failure.message,
            .priority = LOG_ERR};
}

Outcome refused(Phase phase, const Login& login, const Error& why, std::string toUser) {
    return {.pamCode = codeFor(phase, why.code),
            .toUser = std::move(toUser),
            .toLog = who(login) + " is refused: " + why.message,
            .priority = LOG_NOTICE};
}

/// Returns the outcome of a login, or nullopt if the module must ask pinfoldd for the outcome.
std::optional<Outcome> withoutAsking(Phase phase, const Login& login, const PamOptions& options) {
    if (login.uid == 0)
        return Outcome{};
    if (options.wrong.empty())
        return std::nullopt;
    const auto log = "wrong option: " + options.wrong;
    if (login.admitted)
        return Outcome{.toLog = log, .priority = LOG_ERR};
    return Outcome{.pamCode = codeFor(phase, ErrorCode::ConfigInvalid),
                   .toUser = wronglySetUp(login.node),
                   .toLog = log + "; " + who(login) + " is refused",
                   .priority = LOG_ERR};
}

/// Returns true if the error is a refusal of the login, and not a fault on the node. Users can cause the error Busy at any time,
/// so Busy is not a fault on the node, and counts as a refusal. pinfoldd answers Busy when a user has suspended the job, or has
/// started the maximum number of tasks.
bool saidNo(ErrorCode code) { return code == ErrorCode::Busy || errorRow(code).pamCode == kPamPermDenied; }

Outcome join(const Login& login, const PamOptions& options, const std::string& key, const Deadline& deadline,
             const std::string& socket) {
    auto adopted = adopt(key, login.uid, deadline, socket);
    if (adopted)
        return {.toLog = "session of " + who(login) + " is part of job " + key, .environment = std::move(adopted->environment)};
    if (!saidNo(adopted.error().code))
        return failed(Phase::Session, login, options, adopted.error(), cannotJoin(key, login.node));
    if (login.admitted) // the job has ended or takes no more tasks, but the user is a member of one of admit_groups
        return {.toLog = "session of " + who(login) + " does not belong to a job: " + adopted.error().message};
    return refused(Phase::Session, login, adopted.error(), cannotJoin(key, login.node));
}

} // namespace

Outcome account(const Login& login, const PamOptions& options, const std::string& socket) {
    if (auto decided = withoutAsking(Phase::Account, login, options))
        return *std::move(decided);
    if (login.admitted)
        return {};
    const auto jobs = jobsOf(login.uid, Deadline(kPhaseTime), socket);
    if (!jobs)
        return failed(Phase::Account, login, options, jobs.error(), cannotTell(login.node));
    const auto allowed = mayLogIn(*jobs, login.node);
    return allowed ? Outcome{} : refused(Phase::Account, login, allowed.error(), allowed.error().message);
}

Outcome openSession(const Login& login, const PamOptions& options, const std::string& socket) {
    if (auto decided = withoutAsking(Phase::Session, login, options))
        return *std::move(decided);
    const Deadline deadline(kPhaseTime);
    const auto jobs = jobsOf(login.uid, deadline, socket);
    if (!jobs)
        return failed(Phase::Session, login, options, jobs.error(), cannotTell(login.node));
    // If a user runs su in a job, the new login stays in that job.
    if (jobOf(ownCgroup(), *jobs))
        return {};
    const auto open = openTo(*jobs);
    // The search for the login's origin gets half of the remaining time, because the module also needs time to join the job.
    const auto origin = open.size() > 1 ? originOf(login.connection, open, Deadline(deadline.remaining() / 2)) : std::nullopt;
    const auto key = chooseJob(*jobs, origin, options.denySeveral, login.node);
    if (key)
        return join(login, options, *key, deadline, socket);
    return login.admitted ? Outcome{} : refused(Phase::Session, login, key.error(), key.error().message);
}

} // namespace pinfold::pam
