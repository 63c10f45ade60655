// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_options.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

/// If archive-admin is installed, main() has already replaced this process by archive-admin.
ExitStatus archive(const VerbContext&, const ArchiveOptions&) {
    return fail(
        {ErrorCode::Unreachable, "pinfold archive needs the package pinfold-archive, which is not installed on this host"});
}

} // namespace

Verb archiveVerb() { return makeVerb<ArchiveOptions>("archive", kArchiveSummary, archiveOptions, archive); }

} // namespace pinfold
