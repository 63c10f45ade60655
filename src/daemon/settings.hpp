// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "os/journal.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

/// Holds the present configuration of pinfoldd, and reloads the configuration on request.
class Settings {
public:
    Settings(const std::filesystem::path& root, Journal& journal) : root_(root), journal_(journal) {}

    /// Reads the files of the configuration, and stores the values in the object that config() returns. pinfoldd uses the new
    /// values immediately after load(), so load() reads the files in the loop's thread. The loop's thread is allowed to read
    /// /etc, because a node whose /etc hangs cannot work at all. If the files have an error, load() keeps the present
    /// configuration. An unknown key in the files is an error in a reload, but not at the start of pinfoldd. Error:
    /// ConfigInvalid.
    Result<void> load();

    /// Returns the configuration. The returned reference stays valid, because load() assigns the new values to the existing
    /// object.
    const Config& config() const { return config_; }

private:
    Error reject(const Error& why) const;
    void publishFailurePolicy() const;

    std::filesystem::path root_;
    Journal& journal_;
    Config config_;
    bool inForce_ = false;
};

} // namespace pinfold
