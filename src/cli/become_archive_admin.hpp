// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Executes archive-admin with the same words, if the command line is `pinfold archive ...` and archive-admin is installed.
/// Otherwise, becomeArchiveAdmin() does nothing. archive-admin is a separate program, because it needs libpq, and most hosts have
/// no archive.
void becomeArchiveAdmin(int argc, char** argv);

} // namespace pinfold
