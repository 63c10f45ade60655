// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

namespace pinfold::test {

/// kLogin1 is a certificate of the host login1.example.org. The year of kLogin1End has two digits in the certificate (UTCTime).
constexpr const char* kLogin1 = R"(-----BEGIN CERTIFICATE-----
MIIBjzCCATWgAwIBAgIUK0t19No+w4nI6z3wCo7yAZnWZqUwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSbG9naW4xLmV4YW1wbGUub3JnMB4XDTI2MTEyODIyMzczMloX
DTI3MTEyODIyMzczMlowHTEbMBkGA1UEAwwSbG9naW4xLmV4YW1wbGUub3JnMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEntvoD1jJOttnIbOSwFC9FpzgBGmGqmhV
0cfju1cTZNVDu3Ct7auBrvA8hAZMal1AYcjyXGsmLPay9u3m4dfzRaNTMFEwHQYD
VR0OBBYEFPzD62PkuHr4Kty2hrGMzFyKAT8LMB8GA1UdIwQYMBaAFPzD62PkuHr4
Kty2hrGMzFyKAT8LMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIh
AMKsUCoHEYTEGPjQGutsIc5G2JnEoPPJFYPybcjYHGXsAiBBegbmndPn8sBs0LYD
jpm0D4HmTy41X21Yej7iM25nQQ==
-----END CERTIFICATE-----
)";
constexpr RealTime kLogin1End(1827441452s); // 2027-11-28 22:37:32

/// The year of kNode812End has four digits in the certificate (GeneralizedTime).
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
constexpr RealTime kNode812End(4949370411s);

} // namespace pinfold::test
