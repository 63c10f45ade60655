// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <string>

namespace pinfold {

/// Describes the certificate of this host. readCertificate() does not check the certificate, because OpenSSL checks the
/// certificate when libpq connects.
struct Certificate {
    std::string name;   ///< the common name (CN), which is the name of the node in the archive
    RealTime expires{}; ///< the time at which the certificate expires
};

/// Reads the first certificate of a PEM file. Fails with ConfigInvalid if the certificate cannot be read; the message tells the
/// administrator how to solve the problem.
Result<Certificate> readCertificate(const std::string& file);

} // namespace pinfold
