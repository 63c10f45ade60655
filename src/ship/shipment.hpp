// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ship/endpoints.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace pinfold {

/// Sends the node's receipts to the archive, one Lot after the other. The next lot begins with the first receipt that the archive
/// does not have. At the beginning and after each error, Shipment asks the archive which receipts the archive already has.
/// Shipment works even after a lost answer, and even if the archive was restored from a backup.
class Shipment {
public:
    /// After the start of pinfold-ship, Shipment sends the last kResent receipts again, because pinfoldd has possibly changed
    /// these receipts.
    static constexpr std::uint64_t kResent = 500;
    /// Shipment remembers at most kMostAmended keys of amended receipts. If the amended receipts have more than kMostAmended
    /// keys, Shipment sends the last kResent receipts again in the next step.
    static constexpr std::size_t kMostAmended = 1000;
    /// For each key with an amended receipt, Shipment sends at most kReceiptsOfKey receipts again.
    static constexpr std::uint32_t kReceiptsOfKey = 10;

    enum class Side { Node, Archive };
    struct Failure {
        Side side; ///< which end has failed
        Error error;
    };
    struct Step {
        std::optional<Failure> failure = {};
        /// Counts the sent receipts that the archive has accepted, including receipts that the archive already had.
        std::uint64_t receipts = 0;
        bool more = false; ///< further receipts wait
    };

    /// `epoch` is the epoch that the previous run of pinfold-ship stored, or empty if none is stored. A node without receipts
    /// does not report its epoch. Shipment calls `onPosition` with an epoch and a sequence when the archive has all receipts of
    /// the epoch up to the sequence.
    Shipment(NodeReceipts& node, Archive& archive, std::string epoch,
             std::function<void(const std::string& epoch, std::uint64_t sequence)> onPosition)
        : node_(node), archive_(archive), epoch_(std::move(epoch)), onPosition_(std::move(onPosition)) {}

    /// Call stored() when the signal ReceiptsStored says that the node has stored receipts.
    void stored(const std::string& epoch, std::uint64_t last);
    /// Call amended() when the signal ReceiptAmended says that a receipt with the key `key` was amended.
    void amended(const std::string& key);
    /// Tells Shipment to send the newest receipts again in the next call of step().
    void resendRecent();
    /// In the next step, Shipment will ask the node for its newest sequence, and the archive for its position. Call relocate()
    /// after a restart of pinfoldd, because somebody has possibly restored an older copy of pinfoldd's history.
    void relocate() { located_ = false; }

    /// Sends one lot with the next new receipts to the archive. If there are no new receipts, Shipment sends an empty lot to tell
    /// the archive that the node is alive. If the node has never had a receipt, Shipment sends no lot, but asks the archive for a
    /// position. The archive's answer shows whether the archive would accept receipts.
    Step step();

    /// Returns true if the node has the receipt of a failed job, and the archive lacks this receipt. Returns false if the last
    /// call of step() returned a failure, or if the node does not answer.
    bool hasFailedJob();
    /// Returns how many of the receipts that Shipment knows are not in the archive.
    std::uint64_t unsent() const { return newest_ > cursor_ ? newest_ - cursor_ : 0; }

private:
    Result<bool> advance();
    Result<void> locate();
    Result<void> sendRecentAgain();
    Result<void> sendAmended();
    Result<bool> sendNext();
    Result<std::uint64_t> put(const Lot& lot);
    enum class Profiles { With, Without };
    Result<std::vector<Receipt>> listAfter(std::uint64_t sequence, std::uint32_t limit, Profiles profiles);
    void changeEpoch(const std::string& epoch);
    void arrived(std::uint64_t sequence);

    NodeReceipts& node_;
    Archive& archive_;
    std::string epoch_; ///< the epoch of the node's history; empty while the epoch is not known
    std::function<void(const std::string&, std::uint64_t)> onPosition_;
    bool located_ = false;     ///< true if Shipment has set cursor_ to the archive's position
    std::uint64_t cursor_ = 0; ///< all receipts of the epoch up to this sequence are in the archive
    std::uint64_t newest_ = 0; ///< the highest sequence of this epoch that Shipment knows
    bool failing_ = false;     ///< true if the last call of step() returned a failure
    bool recentSent_ = false;
    std::set<std::string> amended_;
    /// The maximum number of receipts in the next lot; Shipment lowers the number after a failure.
    std::uint32_t limit_ = Lot::kMostReceipts;
    /// True if the archive refused the last lot of receipts, because the archive lacks earlier receipts.
    bool behind_ = false;
    Side asked_ = Side::Node; ///< the side to which Shipment's last call went: the node or the archive
    std::uint64_t taken_ = 0; ///< the value of Step::receipts for the step that runs now
};

} // namespace pinfold
