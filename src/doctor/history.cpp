// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "base/word_list.hpp"
#include "doctor/checks.hpp"

namespace pinfold::doctor {
namespace {

void checkKept(const Files& files, Findings& findings) {
    const auto kept = files.matching(std::filesystem::path(kKeptReceiptsDirectory) / "*.json");
    if (kept.empty())
        findings.ok("history.kept", "no receipt waits to be written");
    else
        findings.warn("history.kept",
                      counted(kept.size(), "receipt", "receipts") + " could not be written yet, and a reboot would lose them",
                      "look at `journalctl -u pinfoldd PINFOLD_EVENT=history-failing`; pinfoldd writes the receipts when it can",
                      kKeptReceiptsDirectory);
}

void checkDamaged(const Files& files, Findings& findings) {
    std::vector<std::string> damaged;
    for (const auto& name : files.list(kStateDirectory))
        if (name.starts_with("history.db.damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
            damaged.push_back(name);
    if (damaged.empty())
        findings.ok("history.damaged", "no damaged file was moved aside");
    else
        findings.warn("history.damaged", "the history was damaged, and pinfoldd started a new one: " + enumerated(damaged, "and"),
                      "check the disk; `sqlite3 FILE .recover` may recover receipts; then remove the file", kStateDirectory);
}

} // namespace

void checkHistory(const Host&, const Files& files, Findings& findings) {
    for (const char* directory : {kKeptReceiptsDirectory, kStateDirectory})
        if (files.exists(directory) && !files.listable(directory))
            return findings.needsRoot("history.kept", directory);
    checkKept(files, findings);
    checkDamaged(files, findings);
}

} // namespace pinfold::doctor
