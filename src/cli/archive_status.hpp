// SPDX-License-Identifier: LGPL-2.1-or-later
// Says whether a site's archive has all receipts of the site's nodes. The functions of archive_status.hpp do no I/O.
#pragma once

#include "base/clock.hpp"
#include "cli/table.hpp"
#include "wording/amounts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Even if a node has no new receipts, the node writes to the archive every 5 minutes. A node counts as silent if the node has
/// not written to the archive for 15 minutes.
constexpr Microseconds kArchiveSilence = 15min;

/// Holds one row of the view pinfold.status. All times in ArchiveNode come from the clock of the database server.
struct ArchiveNode {
    std::string node;
    std::string epoch;
    std::uint64_t position = 0; ///< the archive has all receipts whose sequence number is at most `position`, except the receipts
                                ///< that `missing` counts
    std::uint64_t newest = 0;   ///< the sequence number of the node's newest receipt, according to the latest report of the node
    std::uint64_t unsent = 0;
    RealTime seen{};                  ///< when the node last wrote to the archive
    std::optional<RealTime> complete; ///< the latest time at which the archive had all receipts of the node; unset if the archive
                                      ///< never had all receipts
    std::uint64_t missing = 0;        ///< how many receipts the node could not send, because the node no longer had them
    std::uint64_t rejected = 0;       ///< the number of receipts that the archive stores only as a text
    std::uint64_t replacedHistories = 0;
    std::optional<RealTime> restored = {}; ///< when somebody replaced the node's history with an older copy; since then, the node
                                           ///< has used some sequence numbers twice
    std::int64_t clockOff = 0;             ///< the node's clock minus the server's clock, in microseconds
};

struct ArchiveStatus {
    RealTime now{};
    std::vector<ArchiveNode> nodes;

    /// Returns true if the archive has at least one node, and no node has trouble.
    bool complete() const;
};

/// Says why the archive possibly lacks receipts of the node, such as "3 receipts missing". If the archive has all receipts of the
/// node, archiveTrouble() returns an empty text.
std::string archiveTrouble(const ArchiveNode& node, RealTime now, const TableStyle& style);

/// Returns a sentence about the whole site, and a table of the nodes with trouble.
std::string archiveStatusPage(const ArchiveStatus& status, const TableStyle& style);

std::string jsonArchiveStatus(const ArchiveStatus& status);

} // namespace pinfold
