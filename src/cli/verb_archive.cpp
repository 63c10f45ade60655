// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_options.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

/// main() has become archive-admin already, if archive-admin is installed.
ExitStatus run(const VerbContext&, const ArchiveOptions&) {
    return fail(
        {ErrorCode::Unreachable, "pinfold archive needs the package pinfold-archive, which is not installed on this host"});
}

} // namespace

Verb archiveVerb() { return makeVerb("archive", kArchiveSummary, archiveOptions, run); }

} // namespace pinfold
