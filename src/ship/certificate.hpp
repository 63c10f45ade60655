// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <string>

namespace pinfold {

/// What pinfold-ship needs to know of the node's own certificate. OpenSSL checks certificates when libpq connects.
struct Certificate {
    std::string name;   ///< the common name (CN), which is the name of the node in the archive
    RealTime expires{}; ///< the certificate is not valid after this time
};

/// Reads the first certificate of a PEM file. Error: ConfigInvalid, with a message that says what to do.
Result<Certificate> readCertificate(const std::string& file);

} // namespace pinfold
