// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/job_manager.hpp"
#include "dbus/org.pinfold1.Job_adaptor.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace pinfold {

/// Is the object /org/pinfold1/job/<key> on the bus. Everyone may read its properties, because they have nothing private.
class JobObject final
    : public sdbus::AdaptorInterfaces<org::pinfold1::Job_adaptor, sdbus::Properties_adaptor, sdbus::ManagedObject_adaptor> {
public:
    /// Adds the object to the bus, and sends InterfacesAdded.
    JobObject(sdbus::IConnection& connection, const JobManager& manager, const JobSummary& job);
    ~JobObject();

    void stateChanged() { changed({"State"}); }
    void limitsChanged() { changed({"Limits", "LimitsNotEnforced"}); }
    void unkillable() { changed({"Unkillable"}); }

    /// Returns at least as many bytes as the object takes in the answer to GetManagedObjects.
    static std::size_t bytesOf(const JobSummary& job);

private:
    void changed(std::initializer_list<const char*> properties);

    std::string Key() override { return key_.text(); }
    std::uint32_t UID() override { return uid_; }
    std::string State() override;
    bool Unkillable() override;
    std::string Slice() override { return key_.sliceName(); }
    std::string Unit() override { return key_.scopeName(0); }
    std::uint32_t Leader() override;
    std::uint64_t Created() override { return created_; }
    std::map<std::string, sdbus::Variant> Limits() override;
    std::vector<std::string> LimitsNotEnforced() override;
    std::map<std::string, sdbus::Variant> Allocation() override;
    std::vector<sdbus::Struct<std::uint32_t, std::string>> Tasks() override;

    const JobManager& manager_;
    // The object asks the manager for everything else. The manager has the job as long as this object exists.
    const JobKey key_;
    const uid_t uid_;
    const std::uint64_t created_;
};

} // namespace pinfold
