// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/job_object.hpp"

#include "bus/codec.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

namespace pinfold {

JobObject::JobObject(sdbus::IConnection& connection, const JobManager& manager, const JobSummary& job)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(job.key.objectPath())), manager_(manager), key_(job.key), uid_(job.uid),
      created_(job.created) {
    registerAdaptor();
    emitInterfacesAddedSignal();
}

JobObject::~JobObject() {
    try {
        emitInterfacesRemovedSignal();
    } catch (const sdbus::Error&) { // NOLINT(bugprone-empty-catch): if the bus is gone, all its objects are gone
    }
    unregisterAdaptor();
}

void JobObject::changed(std::initializer_list<const char*> properties) {
    emitPropertiesChangedSignal(dbus::InterfaceName(org::pinfold1::Job_adaptor::INTERFACE_NAME),
                                std::vector<dbus::PropertyName>(properties.begin(), properties.end()));
}

std::string JobObject::State() {
    const auto job = manager_.job(key_.text());
    return std::string(toString(job ? shownState(*job) : ShownState::Accounting));
}

std::uint32_t JobObject::Leader() {
    const auto job = manager_.job(key_.text());
    return job ? static_cast<std::uint32_t>(job->leader) : 0;
}

bool JobObject::Unkillable() {
    const auto job = manager_.job(key_.text());
    return job && job->unkillableSince;
}

std::map<std::string, sdbus::Variant> JobObject::Limits() {
    const auto job = manager_.job(key_.text());
    return job ? toDict(job->limits) : dbus::Dict();
}

std::uint64_t JobObject::Slots() {
    const auto job = manager_.job(key_.text());
    return job ? job->slots.value_or(0) : 0;
}

std::vector<std::string> JobObject::LimitsNotEnforced() {
    const auto job = manager_.job(key_.text());
    return job ? job->limitsNotEnforced : std::vector<std::string>();
}

std::map<std::string, sdbus::Variant> JobObject::Allocation() {
    const auto job = manager_.job(key_.text());
    if (!job)
        return {};
    auto allocation = toDict(job->allocation);
    allocation.emplace("environment", sdbus::Variant(job->allocation.environment));
    return allocation;
}

std::size_t JobObject::bytesOf(const JobSummary& job) {
    // Each object needs this many bytes for the names of interfaces and properties, for numbers and for padding.
    constexpr std::size_t interfaces = 870;
    constexpr std::size_t entry = 48;
    const auto scope = job.key.scopeName(0).size();
    auto bytes = interfaces + job.key.objectPath().size() + 3 * scope + job.tasks.size() * (scope + entry);
    for (const auto& [name, value] : job.allocation.environment)
        bytes += entry + name.size() + value.size();
    bytes += job.allocation.cpus.toString().size() + job.allocation.gpus.toString().size();
    for (const auto& name : job.limitsNotEnforced)
        bytes += entry + name.size();
    forEachLimit(job.limits, [&bytes](const LimitRow&, const auto& limit) {
        bytes += limit ? entry : 0;
        if constexpr (!kIsNumber<decltype(limit)>)
            bytes += limit ? limitText(*limit).size() : 0;
    });
    return bytes;
}

std::vector<sdbus::Struct<std::uint32_t, std::string>> JobObject::Tasks() {
    std::vector<sdbus::Struct<std::uint32_t, std::string>> tasks;
    if (const auto job = manager_.job(key_.text()))
        for (const auto task : job->tasks)
            tasks.emplace_back(task, job->key.scopeName(task));
    return tasks;
}

} // namespace pinfold
