// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/suspension.hpp"

#include "base/parse.hpp"
#include "socket_client/daemon_link.hpp"

#include <csignal>

namespace pinfold {
namespace {

bool ask(const std::string& key, bool resume) {
    DaemonLink link;
    link.suspend({key, resume});
    return static_cast<bool>(link.wait());
}

} // namespace

bool Suspension::meansStop(int signal) const {
    if (signal != SIGTTIN)
        return false;
    const auto text = spool_.read("signal").value_or("");
    const auto number = parseUnsigned(text.substr(0, text.find_first_not_of("0123456789")));
    return number && *number == SIGSTOP;
}

bool Suspension::passOn(int signal) {
    if (job_.shepherdSuspendsAlone && meansStop(signal)) {
        frozen_ = ask(job_.key, false) || frozen_;
        return !frozen_;
    }
    // pinfoldd thaws the job before the shepherd gets the signal. A frozen shepherd cannot resume its job, and cannot kill its
    // job. `pinfold suspend` freezes the job and does not change `frozen_`.
    if (frozen_ || signal == SIGTSTP)
        frozen_ = !ask(job_.key, true) && frozen_;
    return true;
}

} // namespace pinfold
