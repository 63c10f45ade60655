// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/error_code.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pinfold {
namespace {

TEST(ErrorTable, namesAreUniqueAndComeBack) {
    std::set<std::string_view> names;
    for (const auto& row : errorTable()) {
        EXPECT_TRUE(names.insert(row.dbusName).second) << row.dbusName;
        EXPECT_EQ(errorCodeFromDbusName(std::string(kDbusErrorPrefix) + std::string(row.dbusName)), row.code);
        EXPECT_EQ(&errorRow(row.code), &row);
    }
}

TEST(ErrorTable, noErrorIsSuccess) {
    for (const auto& row : errorTable()) {
        EXPECT_NE(row.exitStatus, ExitStatus::Ok) << row.dbusName;
        EXPECT_NE(row.pamCode, 0) << row.dbusName;
    }
}

TEST(ErrorTable, otherNamesAreNotOurs) {
    for (const char* name : {"", "Denied", "org.pinfold1.Error.", "org.pinfold1.Error.denied", "org.pinfold1.Error.DeniedX",
                             "org.freedesktop.DBus.Error.AccessDenied"})
        EXPECT_EQ(errorCodeFromDbusName(name), std::nullopt) << name;
}

} // namespace
} // namespace pinfold
