// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Executes archive-admin with the same words, if they are `pinfold archive ...` and archive-admin is installed. pinfold itself
/// does not use libpq, because most hosts have no archive. Otherwise, becomeArchiveAdmin() does nothing.
void becomeArchiveAdmin(int argc, char** argv);

} // namespace pinfold
