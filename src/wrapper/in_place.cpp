// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/in_place.hpp"

#include "base/error_code.hpp"
#include "base/pidfd.hpp"
#include "socket_client/daemon_link.hpp"
#include "socket_client/failure_policy.hpp"
#include "socket_client/say.hpp"
#include "wrapper/command.hpp"
#include "wrapper/job_environment.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace pinfold {

Result<void> enterScope(const WrapperCreate& request) {
    const auto self = pidfdOf(::getpid());
    if (!self)
        return Error{ErrorCode::Internal,
                     std::string("pidfd_open: ") + std::strerror(errno) + "; pinfold needs Linux 5.14 or later"};
    DaemonLink link;
    link.create(request, {.leader = self.get(), .supervisor = -1, .output = openStderr()});
    const auto created = link.wait();
    if (!created)
        return created.error();
    addToEnvironment(created->environment);
    return {};
}

int runInPlace(const WrappedCommand& job) {
    if (auto entered = enterScope(job.request); !entered && !mayRunUnconfined(entered.error(), job.request.key)) {
        say(entered.error().message);
        return kRunFailed;
    }
    const int error = execCommand(job.command[0], job.command);
    say(describeExecFailure(job.command[0], error));
    return execFailureStatus(error);
}

} // namespace pinfold
