// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/job_manager.hpp"
#include "dbus/org.pinfold1.Job_adaptor.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace pinfold {

/// Implements the object /org/pinfold1/job/<key> on the bus. Everyone may read the properties of a job's object, because they
/// contain nothing private.
class JobObject final
    : public sdbus::AdaptorInterfaces<org::pinfold1::Job_adaptor, sdbus::Properties_adaptor, sdbus::ManagedObject_adaptor> {
public:
    /// Adds the object to the bus, and sends InterfacesAdded.
    JobObject(sdbus::IConnection& connection, const JobManager& manager, const JobSummary& job);
    ~JobObject();

    void stateChanged() { changed({"State"}); }
    void limitsChanged() { changed({"Limits", "LimitsNotEnforced"}); }
    void unkillable() { changed({"Unkillable"}); }

    /// Returns an upper bound for the size of the object in the answer to GetManagedObjects, in bytes.
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
    std::uint64_t Created() override { return toUsec(created_); }
    std::map<std::string, sdbus::Variant> Limits() override;
    std::uint64_t Slots() override;
    std::vector<std::string> LimitsNotEnforced() override;
    std::map<std::string, sdbus::Variant> Allocation() override;
    std::vector<sdbus::Struct<std::uint32_t, std::string>> Tasks() override;

    const JobManager& manager_;
    // JobObject itself keeps only a few values, and asks the manager for all other values. While a JobObject exists, the manager
    // knows the job.
    const JobKey key_;
    const uid_t uid_;
    const RealTime created_;
};

} // namespace pinfold
