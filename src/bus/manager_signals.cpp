// SPDX-License-Identifier: LGPL-2.1-or-later
// When jobs or the node change, ManagerSignals sends D-Bus signals and changes D-Bus objects. A signal must not contain private
// facts from a job's receipt, because every user can receive the signals.
#include "bus/codec.hpp"
#include "bus/manager_object.hpp"

namespace pinfold {

void ManagerObject::jobAdded(const JobSummary& job) {
    parts_.onChange();
    guarded("JobAdded", [&] {
        objects_.add(job.key);
        emitJobAdded(job.key.text(), sdbus::ObjectPath(job.key.objectPath()));
    });
}

void ManagerObject::jobStateChanged(const JobKey& key) {
    guarded("PropertiesChanged", [&] { objects_.stateChanged(key); });
}

void ManagerObject::outOfMemory(const JobKey& key, const OomVerdict& verdict) {
    guarded("OutOfMemory", [&] { emitOutOfMemory(key.text(), oomNews(verdict)); });
}

void ManagerObject::limitNear(const JobKey& key, const std::string& limit) {
    guarded("LimitNear", [&] { emitLimitNear(key.text(), limit); });
}

void ManagerObject::limitsChanged(const JobKey& key) {
    guarded("PropertiesChanged", [&] { objects_.limitsChanged(key); });
}

void ManagerObject::taskAdded(const JobKey& key, std::uint32_t task) {
    guarded("TaskAdded", [&] { emitTaskAdded(key.text(), task, key.scopeName(task)); });
}

void ManagerObject::taskRemoved(const JobKey& key, std::uint32_t task) {
    guarded("TaskRemoved", [&] { emitTaskRemoved(key.text(), task, key.scopeName(task)); });
}

void ManagerObject::leftoversFound(const JobKey& key, std::uint32_t task, std::uint64_t count) {
    guarded("LeftoversFound", [&] { emitLeftoversFound(key.text(), task, static_cast<std::uint32_t>(count)); });
}

void ManagerObject::unkillable(const JobKey& key, std::uint64_t count) {
    guarded("Unkillable", [&] {
        objects_.unkillable(key);
        emitUnkillable(key.text(), static_cast<std::uint32_t>(count));
    });
}

void ManagerObject::jobRemoved(const JobKey& key, const Receipt& receipt) {
    parts_.onChange();
    guarded("JobRemoved", [&] {
        emitJobRemoved(key.text(), sdbus::ObjectPath(key.objectPath()),
                       {{"result", sdbus::Variant(std::string(toString(receipt.result)))}});
        objects_.remove(key);
    });
}

void ManagerObject::receiptAmended(const Receipt& receipt) {
    guarded("ReceiptAmended", [&] {
        emitReceiptAmended(receipt.key, {{"result", sdbus::Variant(std::string(toString(receipt.result)))}});
    });
}

void ManagerObject::receiptsStored(const StoredReceipts& stored) {
    guarded("ReceiptsStored", [&] { emitReceiptsStored(stored.epoch, stored.first, stored.last); });
}

void ManagerObject::drainChanged() {
    parts_.onChange();
    guarded("PropertiesChanged", [&] {
        emitPropertiesChangedSignal(
            dbus::InterfaceName(org::pinfold1::Manager_adaptor::INTERFACE_NAME),
            {dbus::PropertyName("Draining"), dbus::PropertyName("DrainReason"), dbus::PropertyName("DrainDetails")});
    });
}

} // namespace pinfold
