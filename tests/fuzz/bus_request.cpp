// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfoldd reads the options of the methods of org.pinfold1. Any user can call the methods.
#include "bus/codec.hpp"
#include "bus/request_check.hpp"
#include "dictionary.hpp"

using namespace pinfold;

namespace {

template <class T> void requireAnswer(const Result<T>& result) {
    if (!result)
        fuzz::requireOneLine(result.error());
}

void decodeAll(const Dict& options) {
    CreateRequest created;
    requireAnswer(decodeCreateOptions(options, created));
    CreateRequest opened;
    requireAnswer(decodeOpenOptions(options, opened));
    TaskRequest task;
    requireAnswer(decodeTaskOptions(options, task));
    requireAnswer(decodeEndOptions(options));
    requireAnswer(decodeStopOptions(options));
    requireAnswer(readReceiptFilter(options));
    requireAnswer(readVacuumRequest(options));
    requireAnswer(decodeFlag(options, "force"));
    requireAnswer(decodeFlag(options, "dry_run"));
    requireAnswer(decodeNoOptions(options));
    const auto limits = readLimits(options);
    requireAnswer(limits);
    if (!limits)
        return;
    const auto again = readLimits(toDict(*limits));
    fuzz::require(again && *again == *limits, "limits that are encoded again are the same limits");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto message = fuzz::dictionaryMessage(fuzz::text(data, size));
    if (!message)
        return 0;
    const auto checked = checkRequest(dbus::rawMessage(*message));
    if (!checked) {
        fuzz::requireOneLine(checked.error());
        return 0;
    }
    fuzz::require(sd_bus_message_rewind(dbus::rawMessage(*message), 1) >= 0, "the message can be read again");
    Dict options;
    *message >> options;
    decodeAll(options);
    return 0;
}
