// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests in tests/archive check the messages of a real libpq and a real server.
#include "postgres/connect_error.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

const PostgresServer kServer{.host = "db.example.org",
                             .port = 5432,
                             .database = "pinfold",
                             .user = "pinfold_node",
                             .certificate = "/etc/pinfold/archive/node.crt",
                             .key = "/etc/pinfold/archive/node.key",
                             .ca = "/etc/pinfold/archive/ca.crt",
                             .applicationName = {}};

TEST(ConnectError, isOneLineWithAdvice) {
    const auto error =
        connectError(kServer, "connection to server at \"db.example.org\" failed: FATAL:  28000: connection requires a "
                              "valid client certificate\nLOCATION:  ClientAuthentication, auth.c:391\n");
    EXPECT_EQ(error.code, ErrorCode::Denied);
    EXPECT_EQ(error.message.find('\n'), error.message.npos);
    EXPECT_EQ(error.message.find("LOCATION"), error.message.npos);
    EXPECT_NE(error.message.find("; the server wants a certificate: name the files"), error.message.npos);
}

TEST(ConnectError, ofAnUnknownCauseHasTheMessageOfLibpq) {
    const auto error = connectError(kServer, "something new\n");
    EXPECT_EQ(error.code, ErrorCode::Unreachable);
    EXPECT_EQ(error.message, "cannot connect to PostgreSQL on db.example.org, port 5432: something new");
}

TEST(ConnectError, doesNotReachTheTerminalWithControlCharacters) {
    EXPECT_EQ(connectError(kServer, "\x1b[2Jalert unknown ca\n").message.find('\x1b'), std::string::npos);
    auto odd = kServer;
    odd.ca = "{}\n";
    EXPECT_EQ(connectError(odd, "certificate verify failed").message.find('\n'), std::string::npos);
}

} // namespace
} // namespace pinfold
