// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdlib>
#include <ctime>

namespace pinfold {

/// Sets the time zone of this process. `zone` is a text such as "CET-1", for which the C library needs no file. A test that
/// expects local times must call useTimeZone() at its beginning.
inline void useTimeZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
}

constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

} // namespace pinfold
