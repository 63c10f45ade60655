// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "os/journal.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

/// Keeps the configuration in force, and reloads it.
class Settings {
public:
    Settings(const std::filesystem::path& root, Journal& journal) : root_(root), journal_(journal) {}

    /// Reads the configuration's files and puts them in force. load() runs on the loop also for a reload: the code that runs
    /// after the reload has to see the new values, and a node whose /etc hangs has lost systemd, too. If the files have an error,
    /// or an unknown key while another configuration is in force, the configuration in force stays. Error: ConfigInvalid.
    Result<void> load();

    /// Returns the configuration. The object is always the same, and load() changes its values.
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
