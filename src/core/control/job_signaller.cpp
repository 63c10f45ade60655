// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/job_signaller.hpp"

#include "core/control/owner_reach.hpp"

#include <fmt/core.h>

#include <utility>

namespace pinfold {

void JobSignaller::send(const JobPtr& job, int signal, Reply<void> reply) {
    job->turns.take(Turns::Kind::Hit, [this, job, signal, reply = std::move(reply)] {
        if (!core_.registry.has(*job)) { // the job is over, and another job possibly has its key
            job->turns.over();
            return reply(Error{ErrorCode::JobEnding, fmt::format("job '{}' is over", job->key().text())});
        }
        core_.context.systemd.kill(job->key().sliceName(), signal, [job, reply](const SystemdOutcome& outcome) {
            job->turns.over();
            reply(outcome ? Result<void>(Error{ErrorCode::SystemdFailed, "systemd did not send the signal: " + outcome->message})
                          : Result<void>());
        });
    });
}

void JobSignaller::sendAsOwner(const JobPtr& job, int signal, const Reply<void>& reply) {
    if (auto turn = takeOwnersTurn(*job); !turn)
        return reply(turn.error());
    const auto user = core_.context.countsAs(job->record.uid);
    const auto begin = [this, job, signal, user, reply] {
        job->turns.take(Turns::Kind::Hit, [this, job, signal, user, reply] {
            toOwners(job, signal, [this, job, user, reply](Result<void> result) {
                job->ownersTurn = false;
                job->turns.over();
                core_.owners.over(user);
                reply(std::move(result));
            });
        });
    };
    if (auto turn = core_.owners.take(user, begin); !turn) {
        job->ownersTurn = false;
        reply(turn.error());
    }
}

void JobSignaller::toOwners(const JobPtr& job, int signal, const Reply<void>& reply) {
    if (!core_.registry.has(*job))
        return reply(Error{ErrorCode::JobEnding, fmt::format("job '{}' is over", job->key().text())});
    const auto send = [reach = OwnerReach(core_.context, *job), signal] { return reach.signal(signal); };
    if (!core_.context.background.ask(Lane::Owners, send, reply))
        reply(Error{ErrorCode::Busy, "too many owners signal their jobs: try again"});
}

} // namespace pinfold
