// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether the users of a login node can ask the site's archive.
#include "doctor/certificate.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <sys/stat.h>

namespace pinfold::doctor {
namespace {

constexpr const char* kSocketUnit = "pinfold-archive.socket";

/// Returns whether systemd listens at the socket.
bool checkSocket(const Host& host, Findings& findings) {
    const auto& unit = host.unit(kSocketUnit);
    if (unit.empty())
        return false; // systemd does not answer
    const auto enable = "run `systemctl enable --now pinfold-archive.socket`";
    const bool listens = property(unit, "ActiveState") == "active";
    if (property(unit, "LoadState") == "not-found")
        findings.fail("archive.socket", "archive.ask is true, but pinfold-archive is not installed",
                      "install the package pinfold-archive", kSocketUnit);
    else if (!listens)
        findings.fail("archive.socket", "archive.ask is true, but nobody listens at the socket of pinfold-archive", enable,
                      kSocketUnit);
    else if (property(unit, "UnitFileState") == "disabled")
        findings.warn("archive.socket", "the socket of pinfold-archive does not start at boot", enable, kSocketUnit);
    else
        findings.ok("archive.socket", "the socket of pinfold-archive listens", kSocketUnit);
    return listens;
}

void checkAnswer(const Host& host, Findings& findings) {
    if (!host.archiveAnswer)
        return;
    if (*host.archiveAnswer)
        findings.ok("archive.answer", "the archive answers");
    else
        findings.fail("archive.answer", host.archiveAnswer->error().message,
                      "check the archive's server and the certificate of this host; `journalctl -u pinfold-archive` says more",
                      "pinfold-archive.service");
}

/// Everybody who can read the key can read the receipts of all users in the archive.
void checkKey(const Host& host, const Files& files, const ArchiveConfig& archive, Findings& findings) {
    if (archive.serverIsSocket())
        return; // the archive's server is a Unix socket of this host, so the connection needs no key
    const auto status = files.status(archive.key);
    if (!status && !host.privileged)
        findings.needsRoot("archive.key", archive.key);
    else if (!status)
        findings.fail("archive.key", "the private key of this host does not exist",
                      "install the certificate of this host and its key, as docs/archive.md says", archive.key);
    else if ((status->mode & (S_IWGRP | S_IRWXO)) != 0)
        findings.fail(
            "archive.key", "other users can read or change the private key, which gives access to all receipts of the site",
            fmt::format("run `chown root:pinfold-archive {0}` and `chmod 0640 {0}`, and get a new certificate if a user has read "
                        "the key",
                        archive.key),
            archive.key);
    else
        findings.ok("archive.key", "only root and one group can read the private key of this host", archive.key);
}

/// If pinfold-ship runs on this host, pinfold-ship uses the same certificate, and checkArchive() has checked the certificate.
void checkCertificate(const Host& host, const ArchiveConfig& archive, Findings& findings) {
    if (!host.certificateExpires || property(host.unit("pinfold-ship.service"), "ActiveState") == "active")
        return;
    if (*host.certificateExpires)
        addCertificate(findings, **host.certificateExpires, host.now, "pinfold-archive");
    else if (!host.privileged)
        findings.needsRoot("archive.certificate", archive.certificate);
    else
        findings.fail("archive.certificate", "pinfold-archive cannot read the certificate of this host",
                      "install the certificate of this host and its key, as docs/archive.md says; "
                      "`/usr/libexec/pinfold/pinfold-archive --print-expiry` says what is wrong",
                      archive.certificate);
}

} // namespace

void checkLoginNode(const Host& host, const Files& files, Findings& findings) {
    const auto& loaded = host.config;
    if (!loaded || !loaded->config.archive.enabled() || !loaded->config.archive.ask)
        return;
    if (checkSocket(host, findings))
        checkAnswer(host, findings);
    checkKey(host, files, loaded->config.archive, findings);
    checkCertificate(host, loaded->config.archive, findings);
}

} // namespace pinfold::doctor
