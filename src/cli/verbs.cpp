// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/verbs.hpp"

namespace pinfold {

std::vector<Verb> allVerbs() {
    return {
        runVerb(),    listVerb(),   statusVerb(),  showVerb(),   psVerb(),      whyVerb(),         historyVerb(),
        topVerb(),    idleVerb(),   logsVerb(),    eventsVerb(), straysVerb(),  stopVerb(),        waitVerb(),
        killVerb(),   limitsVerb(), suspendVerb(), resumeVerb(), vacuumVerb(),  checkConfigVerb(), configVerb(),
        reloadVerb(), doctorVerb(), versionVerb(), drainVerb(),  undrainVerb(), reconcileVerb(),   openVerb(),
        endVerb(),    adoptVerb(),  plotVerb(),    reportVerb(), archiveVerb(),
    };
}

} // namespace pinfold
