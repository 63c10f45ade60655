// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/reconciliation.hpp"

namespace pinfold {

std::string orphanInWords(std::string_view kind, const std::string& name) {
    if (kind == "units_stopped")
        return "unit " + name + " had neither a record nor processes: stopped";
    if (kind == "units_left")
        return "unit " + name + " has processes and no record: left alone; look at them, then `systemctl stop '" + name + "'`";
    if (kind == "cgroups_removed")
        return "cgroup " + name + " had neither a unit nor processes: removed";
    if (kind == "cgroups_left")
        return "cgroup " + name + " has processes and no unit: left alone; `systemd-cgls '" + name + "'` shows them";
    if (kind == "records_ended")
        return "job " + name + " had a record and no unit: ended";
    if (kind == "records_taken_up")
        return "job " + name + " had a unit and a record that was not known: taken up";
    return "record unreadable, so no unit is touched: " + name;
}

} // namespace pinfold
