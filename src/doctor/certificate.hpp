// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "doctor/finding.hpp"

#include <string>

namespace pinfold::doctor {

/// Adds the finding archive.certificate, which says how many days the certificate of this host is still valid. `program` is the
/// program that uses the certificate.
void addCertificate(Findings& findings, RealTime expires, RealTime now, const std::string& program);

} // namespace pinfold::doctor
