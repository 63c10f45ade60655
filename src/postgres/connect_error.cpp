// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/connect_error.hpp"

#include "base/escape.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinfold {
namespace {

/// Holds advice for administrators about error messages that contain `sign`. The message comes from libpq, from OpenSSL or from
/// the server.
struct Advice {
    std::string_view sign;
    ErrorCode code;
    std::string_view text; ///< the advice, which can contain {certificate}, {key}, {ca}, {host}, {port}, {user} and {database}
};

// If a message contains the `sign` of several entries of kAdvice, connectError() uses the first of these entries. In OpenSSL's
// messages, the word "alert" means that the server complains about this program's certificate.
constexpr std::array kAdvice{
    Advice{
        "alert certificate expired", ErrorCode::Denied,
        "the certificate '{certificate}' has expired, or the server's clock is wrong: get a new certificate from your site's CA"},
    Advice{"alert certificate revoked", ErrorCode::Denied,
           "your site's CA has revoked the certificate '{certificate}': get a new certificate"},
    Advice{
        "alert unknown ca", ErrorCode::Denied,
        "the server does not know the CA that signed '{certificate}': compare the certificate with ssl_ca_file in the server's "
        "postgresql.conf"},
    Advice{"alert bad certificate", ErrorCode::Denied,
           "the server does not accept the certificate '{certificate}': look at the server's log"},
    Advice{
        "certificate verify failed", ErrorCode::Unreachable,
        "this host does not trust the server's certificate: the certificate has expired, is not valid yet, or was not signed by "
        "the CA in '{ca}'; to see it, run: openssl s_client -starttls postgres -connect {host}:{port} -CAfile {ca}"},
    Advice{
        "does not match host name", ErrorCode::Unreachable,
        "the server's certificate is for another name than '{host}': use the name that is in the certificate, or give the server "
        "a certificate for '{host}'"},
    Advice{"has group or world access", ErrorCode::ConfigInvalid,
           "other users can read the private key '{key}': run chmod 0600 on the file, or chmod 0640 if it belongs to root and to "
           "the group of this program"},
    Advice{"key values mismatch", ErrorCode::ConfigInvalid,
           "the key '{key}' does not belong to the certificate '{certificate}': install both files anew"},
    Advice{"could not load private key file", ErrorCode::ConfigInvalid,
           "'{key}' must be an unencrypted private key in the format PEM"},
    Advice{"private key file", ErrorCode::ConfigInvalid, "check the private key '{key}'"},
    Advice{"root certificate file", ErrorCode::ConfigInvalid,
           "'{ca}' must be the certificate of your site's CA in the format PEM"},
    Advice{"could not read certificate file", ErrorCode::ConfigInvalid,
           "'{certificate}' must be a certificate in the format PEM"},
    Advice{"server does not support SSL", ErrorCode::Unreachable,
           "pinfold sends receipts only over TLS: set ssl = on in the server's postgresql.conf"},
    Advice{"28000: no pg_hba.conf entry", ErrorCode::Denied,
           "no line in the server's pg_hba.conf lets '{user}' connect to the database '{database}' from here"},
    Advice{"connection requires a valid client certificate", ErrorCode::Denied,
           "the server wants a certificate: name the files of a certificate and of its key"},
    Advice{"Peer authentication failed", ErrorCode::Denied,
           "run the command as the user '{user}' of the operating system: runuser -u {user} -- pinfold archive ..."},
    Advice{"28000: certificate authentication failed", ErrorCode::Denied,
           "the server does not let this certificate be the user '{user}': look at pg_ident.conf on the server"},
    Advice{":  28", ErrorCode::Denied, "look at pg_hba.conf and pg_ident.conf on the server"},
    Advice{":  53300:", ErrorCode::Unreachable,
           "too many nodes and login nodes are connected at the same time: if this happens often, raise max_connections in the "
           "server's postgresql.conf, restart PostgreSQL, and run pinfold archive upgrade"},
    Advice{":  3D000:", ErrorCode::Unreachable,
           "the database '{database}' does not exist: an administrator of the server creates it with pinfold archive init"},
    Advice{"server closed the connection unexpectedly", ErrorCode::Unreachable,
           "if the server closes each new connection, it refuses the certificate '{certificate}': check that the certificate has "
           "not expired"},
    Advice{
        "Connection refused", ErrorCode::Unreachable,
        "check that PostgreSQL runs on the server, and that listen_addresses and port in the server's postgresql.conf are right"},
    Advice{"No such file or directory", ErrorCode::Unreachable, "check that PostgreSQL runs on this host"},
};

std::string filledIn(std::string_view text, const PostgresServer& server) {
    return fmt::format(fmt::runtime(text), fmt::arg("certificate", server.certificate), fmt::arg("key", server.key),
                       fmt::arg("ca", server.ca), fmt::arg("host", server.host), fmt::arg("port", server.port),
                       fmt::arg("user", server.user), fmt::arg("database", server.database));
}

/// With PQERRORS_VERBOSE, libpq adds lines for developers of PostgreSQL. withoutLocations() removes the lines that begin with
/// `LOCATION:`.
std::string withoutLocations(std::string_view message) {
    std::string out;
    while (!message.empty()) {
        const auto end = std::min(message.find('\n'), message.size());
        if (const auto line = message.substr(0, end); !line.starts_with("LOCATION:"))
            out += (out.empty() ? "" : "\n") + std::string(line);
        message.remove_prefix(std::min(end + 1, message.size()));
    }
    return out;
}

} // namespace

Result<void> checkFiles(const PostgresServer& server) {
    if (server.isLocal())
        return {};
    for (const auto& [what, path] : {std::pair("certificate", server.certificate), std::pair("private key", server.key),
                                     std::pair("CA's certificate", server.ca)})
        if (!path.empty() && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
            return Error{ErrorCode::ConfigInvalid,
                         fmt::format("cannot connect to {}: the file of the {}, '{}', cannot be read ({}); install the file, or "
                                     "correct its path and its permissions",
                                     serverName(server), what, printable(path), std::strerror(errno))};
    return {};
}

Error connectError(const PostgresServer& server, std::string_view message) {
    Error error{ErrorCode::Unreachable,
                fmt::format("cannot connect to {}: {}", serverName(server), oneLine(withoutLocations(message)))};
    for (const auto& advice : kAdvice)
        if (message.find(advice.sign) != message.npos) {
            error.code = advice.code;
            error.message += "; " + printable(filledIn(advice.text, server));
            break;
        }
    return error;
}

std::string serverName(const PostgresServer& server) {
    return fmt::format("PostgreSQL on {}, port {}", server.host.empty() ? "this host" : printable(server.host), server.port);
}

std::string oneLine(std::string_view message) {
    while (message.ends_with('\n'))
        message.remove_suffix(1);
    std::string out;
    for (const char c : message)
        out += c == '\n' ? "; " : std::string(c == '\t' ? " " : std::string(1, c));
    return legible(out, 4096);
}

} // namespace pinfold
