// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/job_objects.hpp"

#include "base/bus_names.hpp"
#include "base/escape.hpp"
#include "bus/codec.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

namespace pinfold {
namespace {

const std::string kJobsPath = std::string(kManagerPath) + "/job";

void check(int result, const char* function) {
    if (result < 0)
        throw sdbus::createError(-result, function);
}

std::string key(const JobSummary& job) { return job.key.text(); }
std::uint32_t owner(const JobSummary& job) { return job.uid; }
std::string state(const JobSummary& job) { return std::string(toString(shownState(job))); }
bool isUnkillable(const JobSummary& job) { return job.unkillableSince.has_value(); }
std::string slice(const JobSummary& job) { return job.key.sliceName(); }
std::string unit(const JobSummary& job) { return job.key.scopeName(0); }
std::uint32_t leader(const JobSummary& job) { return static_cast<std::uint32_t>(job.leader); }
std::uint64_t created(const JobSummary& job) { return toUsec(job.created); }
dbus::Dict limits(const JobSummary& job) { return toDict(job.limits); }
std::uint64_t slots(const JobSummary& job) { return job.slots.value_or(0); }
std::vector<std::string> limitsNotEnforced(const JobSummary& job) { return job.limitsNotEnforced; }

dbus::Dict allocation(const JobSummary& job) {
    auto dict = toDict(job.allocation);
    dict.emplace("environment", sdbus::Variant(job.allocation.environment));
    return dict;
}

std::vector<sdbus::Struct<std::uint32_t, std::string>> tasks(const JobSummary& job) {
    std::vector<sdbus::Struct<std::uint32_t, std::string>> all;
    for (const auto task : job.tasks)
        all.emplace_back(task, job.key.scopeName(task));
    return all;
}

int append(sd_bus_message* reply, const std::string& value, sdbus::IProxy&) {
    return sd_bus_message_append_basic(reply, SD_BUS_TYPE_STRING, value.c_str());
}

int append(sd_bus_message* reply, std::uint32_t value, sdbus::IProxy&) {
    return sd_bus_message_append_basic(reply, SD_BUS_TYPE_UINT32, &value);
}

int append(sd_bus_message* reply, std::uint64_t value, sdbus::IProxy&) {
    return sd_bus_message_append_basic(reply, SD_BUS_TYPE_UINT64, &value);
}

int append(sd_bus_message* reply, bool value, sdbus::IProxy&) {
    const int number = value; // libsystemd reads an int
    return sd_bus_message_append_basic(reply, SD_BUS_TYPE_BOOLEAN, &number);
}

/// Appends a list or a dictionary to `reply`. sdbus-c++ cannot write into a message of libsystemd. append() lets sdbus-c++ write
/// the value into the message `unsent`, which append() never sends. libsystemd copies the value from `unsent` into `reply`.
template <class T> int append(sd_bus_message* reply, const T& value, sdbus::IProxy& proxy) {
    auto unsent = dbus::makeCall(proxy, kJobInterface, "Unsent");
    unsent << value;
    unsent.seal();
    unsent.rewind(true);
    return sd_bus_message_copy(reply, dbus::rawMessage(unsent), true);
}

/// Calls f() for libsystemd. guarded() turns exceptions into errors, because an exception must not pass through the C code of
/// libsystemd.
template <class F> int guarded(F&& f) noexcept {
    try {
        return f();
    } catch (const std::exception&) {
        return -ENOMEM;
    }
}

/// Appends a property to the reply. `object` is the FoundJob that JobObjects has found for the call.
template <auto property>
int get(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply, void* object, sd_bus_error*) {
    const auto& found = *static_cast<const FoundJob*>(object);
    return guarded([&] { return append(reply, property(found.job), *found.proxy); });
}

constexpr auto kConstant = SD_BUS_VTABLE_PROPERTY_CONST;
constexpr auto kChanges = SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
constexpr std::uint64_t kChangesSilently = 0;

// The file dbus/org.pinfold1.Job.xml describes the properties in kTable.
const sd_bus_vtable kTable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_PROPERTY("Key", "s", get<key>, 0, kConstant),
    SD_BUS_PROPERTY("UID", "u", get<owner>, 0, kConstant),
    SD_BUS_PROPERTY("State", "s", get<state>, 0, kChanges),
    SD_BUS_PROPERTY("Unkillable", "b", get<isUnkillable>, 0, kChanges),
    SD_BUS_PROPERTY("Slice", "s", get<slice>, 0, kConstant),
    SD_BUS_PROPERTY("Unit", "s", get<unit>, 0, kConstant),
    SD_BUS_PROPERTY("Leader", "u", get<leader>, 0, kChangesSilently),
    SD_BUS_PROPERTY("Created", "t", get<created>, 0, kConstant),
    SD_BUS_PROPERTY("Limits", "a{sv}", get<limits>, 0, kChanges),
    SD_BUS_PROPERTY("Slots", "t", get<slots>, 0, kConstant),
    SD_BUS_PROPERTY("LimitsNotEnforced", "as", get<limitsNotEnforced>, 0, kChanges),
    SD_BUS_PROPERTY("Allocation", "a{sv}", get<allocation>, 0, kChangesSilently),
    SD_BUS_PROPERTY("Tasks", "a(us)", get<tasks>, 0, kChangesSilently),
    SD_BUS_VTABLE_END,
};

} // namespace

JobObjects::JobObjects(sdbus::IConnection& connection, const JobManager& manager)
    : bus_(dbus::rawBus(connection)), manager_(manager), proxy_(dbus::makeProxy(connection, kBusName, kManagerPath)) {
    const auto findJob = [](sd_bus*, const char* path, const char*, void* self, void** found, sd_bus_error*) {
        return guarded([&] {
            *found = static_cast<JobObjects*>(self)->find(path);
            return *found ? 1 : 0;
        });
    };
    const auto listPaths = [](sd_bus*, const char*, void* self, char*** paths, sd_bus_error*) {
        return guarded([&] {
            *paths = static_cast<const JobObjects*>(self)->paths();
            return 0;
        });
    };
    sd_bus_slot* slot = nullptr;
    check(sd_bus_add_fallback_vtable(bus_, &slot, kJobsPath.c_str(), kJobInterface, kTable, findJob, this),
          "sd_bus_add_fallback_vtable");
    table_.reset(slot);
    check(sd_bus_add_node_enumerator(bus_, &slot, kJobsPath.c_str(), listPaths, this), "sd_bus_add_node_enumerator");
    enumerator_.reset(slot);
}

void JobObjects::add(const JobKey& key) {
    keys_.insert(key.text());
    check(sd_bus_emit_object_added(bus_, key.objectPath().c_str()), "sd_bus_emit_object_added");
}

void JobObjects::remove(const JobKey& key) {
    const auto result = sd_bus_emit_object_removed(bus_, key.objectPath().c_str());
    keys_.erase(key.text());
    check(result, "sd_bus_emit_object_removed");
}

void JobObjects::changed(const JobKey& key, std::initializer_list<const char*> properties) {
    if (!keys_.contains(key.text()))
        return;
    std::vector<char*> names;
    for (const auto* property : properties)
        names.push_back(const_cast<char*>(property)); // libsystemd takes the names as char*, but does not change them
    names.push_back(nullptr);
    check(sd_bus_emit_properties_changed_strv(bus_, key.objectPath().c_str(), kJobInterface, names.data()),
          "sd_bus_emit_properties_changed_strv");
}

FoundJob* JobObjects::find(std::string_view path) {
    const auto text = unescapeBusLabel(path.substr(std::min(path.size(), kJobsPath.size() + 1)));
    if (!text || !keys_.contains(*text))
        return nullptr;
    auto job = manager_.job(*text);
    if (!job) // the job has just left the registry, and remove() will send InterfacesRemoved
        job = JobSummary{.key = *JobKey::parse(*text), .state = JobState::Accounting};
    found_ = FoundJob{*std::move(job), proxy_.get()};
    return &*found_;
}

char** JobObjects::paths() const {
    auto** list = static_cast<char**>(std::calloc(keys_.size() + 1, sizeof(char*)));
    auto** next = list;
    for (const auto& text : keys_)
        *next++ = strdup((kJobsPath + '/' + escapeBusLabel(text)).c_str());
    return list;
}

std::size_t JobObjects::bytesOf(const JobSummary& job) {
    // In each object, the names of interfaces, the names of properties, the numbers and the padding together take `interfaces`
    // bytes.
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

} // namespace pinfold
