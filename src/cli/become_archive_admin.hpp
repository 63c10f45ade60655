// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// If the command line is `pinfold archive ...` and archive-admin is installed, archive-admin replaces the process, and gets the
/// whole command line. In all other cases, becomeArchiveAdmin() does nothing. archive-admin is a separate program, because it
/// needs libpq, and most hosts have no archive.
void becomeArchiveAdmin(int argc, char** argv);

} // namespace pinfold
