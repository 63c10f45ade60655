// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "os/journal.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

/// The configuration in force, and its reload.
class Settings {
public:
    Settings(const std::filesystem::path& root, Journal& journal) : root_(root), journal_(journal) {}

    /// Reads the files, on the loop at a reload: what follows a reload is to see it, and a node whose /etc hangs has lost systemd
    /// too. Puts them in force. When they have an error, or a key that is not known while another configuration is in force, that
    /// one stays. Error: ConfigInvalid.
    Result<void> load();

    /// Stays the same object for ever; its values change with load().
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
