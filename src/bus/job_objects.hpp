// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/job_manager.hpp"
#include "systemd/bus_slot.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pinfold {

/// Holds the job whose properties libsystemd reads.
struct FoundJob {
    JobSummary job;
    sdbus::IProxy* proxy = nullptr; ///< makes messages
};

/// Implements the objects /org/pinfold1/job/<label> on the bus, one for each live job. Every user is allowed to read the
/// properties of a job's object, because the properties contain nothing private.
///
/// JobObjects uses libsystemd in place of sdbus-c++ in order to save memory. One table of libsystemd describes the objects of all
/// jobs (sd_bus_add_fallback_vtable(3)). An object of sdbus-c++ has a table of its own, and takes 4 KiB of memory. All functions
/// throw sdbus::Error if libsystemd fails.
class JobObjects {
public:
    JobObjects(sdbus::IConnection& connection, const JobManager& manager);
    JobObjects(const JobObjects&) = delete;
    JobObjects& operator=(const JobObjects&) = delete;

    /// Adds the object of a job, and sends InterfacesAdded.
    void add(const JobKey& key);
    /// Sends InterfacesRemoved for the object of a job, and then removes the object.
    void remove(const JobKey& key);

    void stateChanged(const JobKey& key) { changed(key, {"State"}); }
    void limitsChanged(const JobKey& key) { changed(key, {"Limits", "LimitsNotEnforced"}); }
    void unkillable(const JobKey& key) { changed(key, {"Unkillable"}); }

    /// Returns an upper bound for the size of a job's object in the answer to GetManagedObjects, in bytes.
    static std::size_t bytesOf(const JobSummary& job);

private:
    /// Finds the job of an object for libsystemd, and keeps the job in found_. Returns null if the object does not exist.
    FoundJob* find(std::string_view path);
    /// Returns the paths of all objects. libsystemd frees the returned array, and each path in the array.
    char** paths() const;
    void changed(const JobKey& key, std::initializer_list<const char*> properties);

    sd_bus* const bus_;
    const JobManager& manager_;
    std::set<std::string> keys_; ///< the keys of the jobs that have an object on the bus
    /// Before libsystemd reads the properties of an object, libsystemd calls find(). libsystemd gets all properties of the object
    /// from the JobSummary in found_.
    std::optional<FoundJob> found_;
    const std::unique_ptr<sdbus::IProxy> proxy_;
    dbus::Slot table_;
    dbus::Slot enumerator_;
};

} // namespace pinfold
