// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the name=value lines of `pinfold show`. The properties have the same names as the keys of the JSON output. An unset or
// unknown value is an empty text.
#pragma once

#include "cli/json.hpp"
#include "model/receipt.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pinfold {

using Properties = std::vector<std::pair<std::string, std::string>>;

/// Returns the properties of a live job. The argument `user` is the name of the job's owner.
Properties propertiesOf(const JobDetail& detail, const std::string& user);

/// Returns the properties of a job that is over. `user` is the name of the job's owner. If the receipt does not contain the
/// owner's name, the property `user` has the value of the argument `user`.
Properties propertiesOf(const Receipt& receipt, const std::string& user);

/// Returns the names of all properties. Some properties exist only while a job is live, and some properties exist only after the
/// job's end.
std::vector<std::string> propertyNames();

} // namespace pinfold
