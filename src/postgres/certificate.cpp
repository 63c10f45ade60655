// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/certificate.hpp"

#include <fmt/core.h>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

namespace pinfold {
namespace {

struct Free {
    void operator()(BIO* file) const { BIO_free(file); }
    void operator()(X509* certificate) const { X509_free(certificate); }
};

Error invalid(const std::string& file, const std::string& what) {
    return {ErrorCode::ConfigInvalid,
            fmt::format("the certificate {} {}: see archive.certificate in pinfold.toml(5)", file, what)};
}

/// Keeps OpenSSL from asking on the terminal for the password of an encrypted file.
int noPassword(char*, int, int, void*) { return 0; }

} // namespace

Result<Certificate> readCertificate(const std::string& file) {
    errno = 0;
    const std::unique_ptr<BIO, Free> in(BIO_new_file(file.c_str(), "r"));
    if (!in)
        return invalid(file, fmt::format("cannot be read ({})", std::strerror(errno)));
    const std::unique_ptr<X509, Free> certificate(PEM_read_bio_X509(in.get(), nullptr, noPassword, nullptr));
    if (!certificate)
        return invalid(file, "is not a certificate in the format PEM");
    std::array<char, 256> name{};
    const int length =
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(), name.size());
    std::tm expires{};
    if (length <= 0)
        return invalid(file, "has no name (CN)");
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &expires) != 1)
        return invalid(file, "has no date on which it expires");
    const auto seconds = std::max<std::time_t>(::timegm(&expires), 0);
    return Certificate{std::string(name.data(), static_cast<std::size_t>(length)), RealTime(std::chrono::seconds(seconds))};
}

} // namespace pinfold
