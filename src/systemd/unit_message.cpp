// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_message.hpp"

#include <cstdint>
#include <utility>
#include <variant>

namespace pinfold {
namespace {

using Strings = std::vector<std::string>;
using Command = sdbus::Struct<std::string, Strings, Strings>;

constexpr const char* kProperty = "sv";

constexpr const char* signatureOf(bool) { return "b"; }
constexpr const char* signatureOf(std::int32_t) { return "i"; }
constexpr const char* signatureOf(std::uint64_t) { return "t"; }
constexpr const char* signatureOf(const std::string&) { return "s"; }
constexpr const char* signatureOf(const std::vector<std::uint8_t>&) { return "ay"; }
constexpr const char* signatureOf(const std::vector<std::uint32_t>&) { return "au"; }
constexpr const char* signatureOf(const Strings&) { return "as"; }
constexpr const char* signatureOf(const UnitProperty::DeviceAmounts&) { return "a(st)"; }
constexpr const char* signatureOf(const UnitProperty::DeviceRules&) { return "a(ss)"; }
constexpr const char* signatureOf(const std::vector<Command>&) { return "a(sasas)"; }

template <class T> void append(sdbus::MethodCall& call, const T& value) { call << value; }

template <class T> void append(sdbus::MethodCall& call, const std::vector<std::pair<std::string, T>>& pairs) {
    std::vector<sdbus::Struct<std::string, T>> structs;
    structs.reserve(pairs.size());
    for (const auto& [first, second] : pairs)
        structs.emplace_back(first, second);
    call << structs;
}

/// Writes a property of a unit directly into the message of the call. With sdbus::Variant, sdbus-c++ would create a separate
/// message for each value, and copy the value into the call's message.
template <class T> void appendProperty(sdbus::MethodCall& call, const std::string& name, const T& value) {
    call.openStruct(kProperty);
    call << name;
    call.openVariant(signatureOf(value));
    append(call, value);
    call.closeVariant();
    call.closeStruct();
}

void appendEach(sdbus::MethodCall& call, const std::vector<UnitProperty>& properties) {
    for (const auto& property : properties)
        std::visit([&](const auto& value) { appendProperty(call, property.name, value); }, property.value);
}

} // namespace

void appendProperties(sdbus::MethodCall& call, const std::vector<UnitProperty>& properties) {
    call.openContainer("(sv)");
    appendEach(call, properties);
    call.closeContainer();
}

void appendService(sdbus::MethodCall& call, const ServiceRequest& request) {
    call.openContainer("(sv)");
    appendEach(call, request.properties);
    appendProperty(call, "ExecStartEx", std::vector<Command>{{request.argv.front(), request.argv, Strings{"no-env-expand"}}});
    call.closeContainer();
}

void appendAuxiliary(sdbus::MethodCall& call, const std::string& unit, const std::vector<UnitProperty>& properties) {
    call.openContainer("(sa(sv))");
    if (!unit.empty()) {
        call.openStruct("sa(sv)");
        call << unit;
        appendProperties(call, properties);
        call.closeStruct();
    }
    call.closeContainer();
}

} // namespace pinfold
