// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/reconciliation.hpp"

namespace pinfold {

std::string orphanInWords(std::string_view kind, const std::string& name) {
    if (kind == "units_stopped")
        return "unit " + name + " had neither a record nor processes: stopped";
    if (kind == "units_left")
        return "unit " + name + " has processes but no record: left alone; look at the processes, then run `systemctl stop '" +
               name + "'`";
    if (kind == "cgroups_removed")
        return "cgroup " + name + " had neither a unit nor processes: removed";
    if (kind == "cgroups_left")
        return "cgroup " + name + " has processes but no unit: left alone; `systemd-cgls '" + name + "'` shows the processes";
    if (kind == "records_ended")
        return "job " + name + " had a record but no unit: ended";
    if (kind == "records_taken_up")
        return "job " + name + " had a unit and a record that pinfoldd did not know: taken up";
    return "a record cannot be read, so pinfoldd changes no unit: " + name;
}

} // namespace pinfold
