// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "doctor/finding.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pinfold::doctor {

/// Returns the time at which the first certificate in the text of a PEM file expires. Returns nullopt if the text has no
/// certificate. Only the programs that connect to PostgreSQL link OpenSSL. The program pinfold is on every node, and reads the
/// date without OpenSSL.
std::optional<RealTime> certificateExpiry(std::string_view pem);

/// Adds the finding archive.certificate, which says how many days the certificate of this host is still valid. `program` is the
/// program that uses the certificate.
void addCertificate(Findings& findings, RealTime expires, RealTime now, const std::string& program);

} // namespace pinfold::doctor
