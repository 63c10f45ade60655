// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether the receipts of this node reach the site's archive. The doctor does not use the network. pinfold-ship stores the
// archive's answers in its metrics file, and the doctor reads this file.
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "doctor/certificate.hpp"
#include "doctor/checks.hpp"
#include "model/first_end.hpp"

#include <algorithm>
#include <map>

namespace pinfold::doctor {
namespace {

using Figures = std::map<std::string, std::string, std::less<>>;

constexpr Microseconds kSilence = 30min; ///< pinfold-ship tries again after at most 10 minutes
constexpr const char* kUnit = "pinfold-ship.service";

Figures read(const Files& files) {
    Figures figures;
    for (const auto& line : meaningfulLines(files.text(kShipMetricsFile))) {
        const auto parts = words(line.text);
        if (parts.size() == 2)
            figures.emplace(parts[0], parts[1]);
    }
    return figures;
}

std::optional<std::uint64_t> figure(const Figures& figures, std::string_view name) {
    const auto found = figures.find(name);
    if (found == figures.end())
        return std::nullopt;
    const auto value = parseUnsigned(found->second);
    return value ? std::optional(*value) : std::nullopt;
}

/// Converts the figure `name` of pinfold-ship, a number of seconds since 1970, to a time. If the number of seconds is too large
/// for a RealTime, the result is the largest possible time.
std::optional<RealTime> timeOf(const Figures& figures, std::string_view name) {
    constexpr std::uint64_t kMost = kForever / 1s;
    const auto seconds = figure(figures, name);
    return seconds ? std::optional(RealTime(Microseconds(std::min(*seconds, kMost) * 1'000'000))) : std::nullopt;
}

/// Returns whether pinfold-ship runs.
bool checkShip(const Host& host, const ArchiveConfig& archive, Findings& findings) {
    const auto& unit = host.unit(kUnit);
    const auto loaded = property(unit, "LoadState");
    if (unit.empty() || (loaded == "not-found" && archive.ask))
        return false; // systemd does not answer, or this is a login node, which sends no receipts to the archive
    const bool runs = property(unit, "ActiveState") == "active";
    if (runs)
        findings.ok("archive.ship", "pinfold-ship runs", kUnit);
    else if (loaded == "not-found")
        findings.fail("archive.ship", "archive.server is set, but pinfold-ship is not installed",
                      "install the package pinfold-ship", kUnit);
    else
        findings.fail("archive.ship", "archive.server is set, but pinfold-ship does not run",
                      "run `systemctl enable --now pinfold-ship`; `journalctl -u pinfold-ship` says why pinfold-ship ended",
                      kUnit);
    return runs;
}

void checkReached(const Host& host, const Figures& figures, Findings& findings) {
    const auto failing = figure(figures, "pinfold_ship_failing");
    const auto& status = property(host.unit(kUnit), "StatusText");
    if (!failing)
        findings.warn("archive.reached", "not known: pinfold-ship has written no figures", "look at `journalctl -u pinfold-ship`",
                      kShipMetricsFile);
    else if (*failing != 0)
        findings.fail("archive.reached", "receipts do not reach the archive: " + status,
                      "check the archive's server and the certificate of this node; pinfold-ship tries again by itself", kUnit);
    else if (!timeOf(figures, "pinfold_ship_last_success_seconds"))
        findings.warn("archive.reached", "not known yet: since the start of pinfold-ship, the archive has not answered",
                      "run `pinfold doctor` again after a minute", kUnit);
    else
        findings.ok("archive.reached", "receipts reach the archive");
}

/// Returns true if the last success of pinfold-ship is longer ago than kSilence, or if there was no success yet.
bool isSilent(const Host& host, const Figures& figures) {
    const auto success = timeOf(figures, "pinfold_ship_last_success_seconds");
    return !success || timeBetween(*success, host.now) > kSilence;
}

void checkBacklog(const Host& host, const Figures& figures, Findings& findings) {
    const auto unsent = figure(figures, "pinfold_ship_unsent").value_or(0);
    if (unsent > 0 && isSilent(host, figures))
        findings.warn("archive.backlog", counted(unsent, "receipt waits", "receipts wait") + " for the archive",
                      "make sure that pinfold-ship can reach the archive; pinfoldd keeps the receipts only until the history "
                      "exceeds archive.max_unsent",
                      kShipMetricsFile);
    else
        findings.ok("archive.backlog", "no receipt has waited long for the archive");
}

/// `pinfold why` compares the times in the receipts of several hosts. Two times that differ by at most kClockTolerance count as
/// equal. If two clocks differ by more than kClockTolerance, `pinfold why` can name the wrong host as the first failed host.
void checkClock(const Host& host, const Figures& figures, Findings& findings) {
    const auto found = figures.find("pinfold_ship_clock_offset_seconds");
    if (isSilent(host, figures)) {
        findings.warn(
            "archive.clock", "not known: the archive has not answered in the last " + formatDuration(kSilence),
            "make sure that pinfold-ship can reach the archive; pinfold-ship compares the clocks at each answer of the archive",
            kShipMetricsFile);
        return;
    }
    if (found == figures.end()) {
        findings.ok("archive.clock", "not known yet: pinfold-ship compares the clocks at the first answer of the archive");
        return;
    }
    const bool behind = found->second.starts_with('-');
    const auto offset = parseDuration(std::string_view(found->second).substr(behind ? 1 : 0));
    if (!offset)
        findings.warn("archive.clock", "not known: the figure of pinfold-ship is not a number", "restart pinfold-ship",
                      kShipMetricsFile);
    else if (*offset > kClockTolerance)
        findings.warn("archive.clock",
                      "the clock of this node is " + formatDuration(*offset) + (behind ? " behind" : " ahead of") +
                          " the clock of the archive: `pinfold why` may name the wrong host as the first that failed",
                      "synchronise the clocks of this node and of the archive's server, for example with chrony");
    else
        findings.ok("archive.clock", "the clocks of this node and of the archive agree");
}

void checkGaps(const Figures& figures, Findings& findings) {
    const auto missing = figure(figures, "pinfold_ship_missing");
    if (missing.value_or(0) > 0)
        findings.warn(
            "archive.gaps",
            "the archive can never get " + counted(*missing, "receipt", "receipts") +
                " of this node, because the node removed or lost the receipts before they were sent",
            "read in `pinfold report --site` which receipts are missing; a larger archive.max_unsent keeps more of them",
            kShipMetricsFile);
    else if (missing)
        findings.ok("archive.gaps", "the archive has every receipt that this node has removed");
    else
        findings.ok("archive.gaps", "not known yet: the first answer of the archive names the number of missing receipts");
}

void checkCertificate(const Host& host, const Figures& figures, Findings& findings) {
    // If pinfold-ship could not read the certificate, the check archive.reached reports this problem.
    if (const auto expires = timeOf(figures, "pinfold_ship_certificate_expires_seconds"))
        addCertificate(findings, *expires, host.now, "pinfold-ship");
}

} // namespace

void checkArchive(const Host& host, const Files& files, Findings& findings) {
    const auto& loaded = host.config;
    if (!loaded || !loaded->config.archive.enabled())
        return;
    if (!checkShip(host, loaded->config.archive, findings))
        return;
    const auto figures = read(files);
    checkReached(host, figures, findings);
    checkBacklog(host, figures, findings);
    checkClock(host, figures, findings);
    checkGaps(figures, findings);
    checkCertificate(host, figures, findings);
}

} // namespace pinfold::doctor
