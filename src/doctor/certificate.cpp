// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/certificate.hpp"

#include "base/parse.hpp"

#include <fmt/core.h>

namespace pinfold::doctor {
namespace {

constexpr Microseconds kDay = 24h;
constexpr Microseconds kRenewal = 30 * kDay; ///< if a certificate expires in less than the time kRenewal, the doctor warns

} // namespace

void addCertificate(Findings& findings, RealTime expires, RealTime now, const std::string& program) {
    const auto remedy = fmt::format("renew the certificate; {} uses the new one at its next connection", program);
    if (expires <= now) {
        findings.fail("archive.certificate", "the certificate of this node has expired", remedy);
        return;
    }
    const auto left = expires - now;
    const auto found = fmt::format("the certificate of this node expires in {}", counted(left / kDay, "day", "days"));
    if (left < kRenewal)
        findings.warn("archive.certificate", found, remedy);
    else
        findings.ok("archive.certificate", found);
}

} // namespace pinfold::doctor
