// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// For a command line `pinfold archive ...`, executes archive-admin with the whole command line. becomeArchiveAdmin() does
/// nothing if the verb is not `archive`, or if archive-admin is not installed. archive-admin is a separate program,
/// because archive-admin needs libpq, and most hosts have no archive.
void becomeArchiveAdmin(int argc, char** argv);

} // namespace pinfold
