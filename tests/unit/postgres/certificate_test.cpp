// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/certificate.hpp"

#include "tests/support/cpp/mutation.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <fstream>

namespace pinfold::test {
namespace {

constexpr const char* kNode812 = R"(-----BEGIN CERTIFICATE-----
MIIBsDCCAVegAwIBAgIURazM/izrqJ251NwXgLrCzLxpv9kwCgYIKoZIzj0EAwIw
LTENMAsGA1UECgwEc2l0ZTEcMBoGA1UEAwwTbm9kZTgxMi5leGFtcGxlLm9yZzAg
Fw0yNjExMjcwOTA2NTFaGA8yMTI2MTEwMzA5MDY1MVowLTENMAsGA1UECgwEc2l0
ZTEcMBoGA1UEAwwTbm9kZTgxMi5leGFtcGxlLm9yZzBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABNHS2Jd2SyBv1QE+KeRyRt38kdRcTyyKJrOiN+/aFik2hUcrd32r
6Ke6cVoUffcZwkaCQ8MoA8lLtVxX6+6QSlyjUzBRMB0GA1UdDgQWBBSemI7GFeQa
sRrXifnL5T+hubhatDAfBgNVHSMEGDAWgBSemI7GFeQasRrXifnL5T+hubhatDAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIBj/E2gkJaH2sYa4AZ06
g4TsSI7qdiJBWrT6XSl4QPI7AiAXGwzzdD9DAwhkK1da8d4Dm2Sl5TG95h5+2r++
fgTTTQ==
-----END CERTIFICATE-----
)";

class CertificateFile : public TemporaryDirectory {
protected:
    Result<Certificate> read(const std::string& text) const {
        std::ofstream(top() / "node.crt", std::ios::binary) << text;
        return readCertificate((top() / "node.crt").string());
    }
};

TEST_F(CertificateFile, hasNameAndEnd) {
    const auto certificate = read(kNode812);
    ASSERT_TRUE(certificate) << certificate.error().message;
    EXPECT_EQ(certificate->name, "node812.example.org");
    EXPECT_EQ(certificate->expires, RealTime(4949370411s));
}

TEST_F(CertificateFile, anErrorNamesTheFile) {
    for (const auto& [text, what] : {std::pair{"", "format PEM"}, {"-----BEGIN CERTIFICATE-----\nAAAA\n", "format PEM"}}) {
        const auto failed = read(text);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, ErrorCode::ConfigInvalid);
        EXPECT_NE(failed.error().message.find("node.crt"), std::string::npos) << failed.error().message;
        EXPECT_NE(failed.error().message.find(what), std::string::npos) << failed.error().message;
    }
    const auto missing = readCertificate((top() / "missing.crt").string());
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("No such file"), std::string::npos) << missing.error().message;
}

TEST_F(CertificateFile, damageNeverCrashes) {
    Mutator mutator;
    int refused = 0;
    for (int i = 0; i < 500; ++i)
        refused += read(mutator.mutate(kNode812)) ? 0 : 1;
    EXPECT_GT(refused, 0);
}

} // namespace
} // namespace pinfold::test
