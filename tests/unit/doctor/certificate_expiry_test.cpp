// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/certificate_expiry.hpp"

#include "certificates.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

using doctor::certificateExpiry;

TEST(CertificateExpiry, isTheEndOfTheFirstCertificate) {
    EXPECT_EQ(certificateExpiry(kLogin1), kLogin1End);
    EXPECT_EQ(certificateExpiry(kNode812), kNode812End);
    EXPECT_EQ(certificateExpiry(std::string("subject=CN = login1\r\n") + kLogin1 + kNode812), kLogin1End);
}

TEST(CertificateExpiry, needsACertificate) {
    for (const char* text : {"", "nonsense", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAAAA\n",
                             "-----BEGIN EC PRIVATE KEY-----\nMHcC\n"})
        EXPECT_EQ(certificateExpiry(text), std::nullopt) << text;
    const std::string whole = kLogin1;
    EXPECT_EQ(certificateExpiry(whole.substr(0, 200)), std::nullopt);
}

TEST(CertificateExpiry, damageNeverCrashes) {
    Mutator mutator;
    int refused = 0;
    for (int i = 0; i < 2000; ++i)
        refused += certificateExpiry(mutator.mutate(kLogin1)) ? 0 : 1;
    EXPECT_GT(refused, 0);
}

} // namespace
} // namespace pinfold::test
