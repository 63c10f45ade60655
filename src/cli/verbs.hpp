// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares all verbs.
#pragma once

#include "cli/verb.hpp"

#include <vector>

namespace pinfold {

Verb adoptVerb();
Verb archiveVerb();
Verb checkConfigVerb();
Verb configVerb();
Verb doctorVerb();
Verb drainVerb();
Verb endVerb();
Verb eventsVerb();
Verb historyVerb();
Verb idleVerb();
Verb killVerb();
Verb limitsVerb();
Verb listVerb();
Verb logsVerb();
Verb openVerb();
Verb plotVerb();
Verb psVerb();
Verb reconcileVerb();
Verb reloadVerb();
Verb reportVerb();
Verb resumeVerb();
Verb runVerb();
Verb showVerb();
Verb statusVerb();
Verb stopVerb();
Verb straysVerb();
Verb suspendVerb();
Verb topVerb();
Verb undrainVerb();
Verb vacuumVerb();
Verb versionVerb();
Verb waitVerb();
Verb whyVerb();

/// Returns all verbs in the order of the help.
std::vector<Verb> allVerbs();

} // namespace pinfold
