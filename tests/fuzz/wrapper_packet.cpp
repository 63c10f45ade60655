// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfoldd reads packets of the wrapper's socket. At the wrapper's socket, any user can send packets to pinfoldd.
#include "fuzz.hpp"
#include "model/wrapper_protocol.hpp"

using namespace pinfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto packet = fuzz::text(data, size);
    if (const auto request = decodeWrapperRequest(packet)) {
        const auto again = decodeWrapperRequest(encode(*request));
        fuzz::require(again && *again == *request, "a request that is encoded again is the same request");
    } else {
        fuzz::requireOneLine(request.error());
    }
    if (const auto reply = decodeWrapperReply(packet)) {
        const auto encoded = encodeWrapperReply(reply);
        fuzz::require(encoded.size() <= kMaxWrapperPacket, "a reply fits into a packet");
        if (const auto again = decodeWrapperReply(encoded))
            fuzz::require(*again == *reply, "a reply that is encoded again is the same reply");
    }
    return 0;
}
