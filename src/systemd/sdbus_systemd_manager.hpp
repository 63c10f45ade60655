// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/event_loop.hpp"
#include "systemd/systemd_manager.hpp"

#include <memory>

namespace sdbus {
class IConnection;
}

namespace pinfold {

/// Implements SystemdManager over the bus. At most 64 calls and 16 freezes wait for a reply at the same time, because
/// dbus-daemon refuses too many unanswered calls.
class SdbusSystemdManager : public SystemdManager {
public:
    /// Adds the match rules before the call of Subscribe, so that pinfoldd misses no signal. Throws sdbus::Error if systemd is
    /// not on the bus. Only the constructor of SdbusSystemdManager waits for answers.
    SdbusSystemdManager(sdbus::IConnection& connection, EventLoop& loop);
    ~SdbusSystemdManager() override;

    void start(StartRequest request, SystemdDone done) override;
    void startService(ServiceRequest request, SystemdDone done) override;
    void stop(const std::string& unit, SystemdDone done) override;
    void kill(const std::string& unit, int signal, SystemdDone done) override;
    void setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) override;
    void freeze(const std::string& unit, SystemdDone done) override;
    void thaw(const std::string& unit, SystemdDone done) override;
    void askShutdown(std::function<void()> done) override;
    unsigned version() const override;
    void resetFailed(const std::string& unit, SystemdDone done) override;
    void listUnits(std::vector<std::string> patterns,
                   std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
