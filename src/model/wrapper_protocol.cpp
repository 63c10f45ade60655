// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/wrapper_protocol.hpp"

#include "base/enum_names.hpp"
#include "model/json_parts.hpp"
#include "model/receipt_json.hpp"

#include <utility>

namespace pinfold {
namespace {

// A supervisor can use an older version of the protocol than pinfoldd uses. Old supervisors still use the old members of the
// packets, so a new pinfoldd must accept all old members. A new version is allowed to add members to the packets. A program must
// not write a new member into a packet if the member has no value.
constexpr int kVersion = 1;
// kUnknownForm must not change, because newer programs compare the answer of an older pinfoldd with kUnknownForm.
constexpr const char* kUnknownForm = "the request cannot be read: pinfold-run does not write it in this form";

constexpr auto kRoles = enumNames<WrapperRole>({
    {WrapperRole::Job, "job"}, // no packet contains the word "job", because encode() omits the role Job
    {WrapperRole::Batch, "batch"},
    {WrapperRole::Task, "task"},
    {WrapperRole::TaskOfOpen, "task-of-open"},
});

template <class T> void putIfSet(Json& json, const char* name, const std::optional<T>& value) {
    if (value)
        json[name] = optionalToJson(value);
}

void putIdentityIfSet(Json& json, const JobIdentity& identity) {
    if (identity == JobIdentity{})
        return;
    putIdentity(json["identity"], identity);
}

void takeIdentityIfSet(const Json& json, JobIdentity& identity) {
    if (const auto found = json.find("identity"); found != json.end())
        takeIdentity(*found, identity);
}

Json toJson(const WrapperCreate& request) {
    Json json{{"version", kVersion}, {"call", "create"}, {"key", request.key}, {"limits", Json::object()}};
    forEachLimit(request.limits, [&](const LimitRow& row, const auto& limit) {
        if (limit)
            json["limits"][row.name] = limitToJson(limit);
    });
    forEachAllocationRequest(request.allocation, [&](const char* name, const auto& member) {
        if (member)
            json["allocation"][name] = limitToJson(member);
    });
    if (request.allocation.exclusive)
        json["allocation"]["exclusive"] = true;
    if (request.supervised)
        json["supervised"] = true;
    if (request.output)
        json["output"] = true;
    if (request.role != WrapperRole::Job)
        json["role"] = kRoles[request.role];
    putIfSet(json, "owner", request.owner);
    putIfSet(json, "slots", request.slots);
    if (request.shepherd)
        json["shepherd"] = true;
    putIdentityIfSet(json, request.identity);
    return json;
}

Json toJson(const WrapperEnd& request) {
    Json json{{"version", kVersion}, {"call", "end"}, {"key", request.key}, {"leader", request.leader}};
    putIfSet(json, "exit_status", request.exit.status);
    putIfSet(json, "exit_signal", request.exit.signal);
    putIfSet(json, "task", request.task);
    if (request.receipt)
        json["receipt"] = true;
    if (request.toldOfRefusal)
        json["told_of_refusal"] = true;
    putIdentityIfSet(json, request.identity);
    return json;
}

Json toJson(const WrapperSuspend& request) {
    return {{"version", kVersion}, {"call", request.resume ? "resume" : "suspend"}, {"key", request.key}};
}

Json toJson(const WrapperList& request) { return {{"version", kVersion}, {"call", "list"}, {"uid", request.uid}}; }

Json toJson(const WrapperAdopt& request) {
    return {{"version", kVersion}, {"call", "adopt"}, {"key", request.key}, {"owner", request.owner}};
}

WrapperRole roleFromJson(const Json& json) {
    const auto name = json.find("role");
    if (name == json.end())
        return WrapperRole::Job;
    if (const auto role = kRoles.find(name->get<std::string>()))
        return *role;
    throw std::invalid_argument("unknown role");
}

WrapperRequest requestFromJson(const Json& json) {
    if (const auto version = json.at("version").get<int>(); version != kVersion)
        throw std::invalid_argument("version " + std::to_string(version) + ", this pinfoldd knows version 1");
    const auto call = json.at("call").get<std::string>();
    if (call == "list")
        return WrapperList{json.at("uid").get<uid_t>()};
    const auto key = json.at("key").get<std::string>();
    if (call == "create") {
        WrapperCreate create;
        create.key = key;
        takeLimits(json.at("limits"), create.limits);
        if (const auto allocation = json.find("allocation"); allocation != json.end()) {
            forEachAllocationRequest(create.allocation,
                                     [&](const char* name, auto& member) { limitFromJson(*allocation, name, member); });
            create.allocation.exclusive = allocation->value("exclusive", false);
        }
        create.supervised = json.value("supervised", false);
        create.output = json.value("output", false);
        create.role = roleFromJson(json);
        optionalFromJson(json, "owner", create.owner);
        optionalFromJson(json, "slots", create.slots);
        create.shepherd = json.value("shepherd", false);
        takeIdentityIfSet(json, create.identity);
        return create;
    }
    if (call == "suspend" || call == "resume")
        return WrapperSuspend{key, call == "resume"};
    if (call == "adopt")
        return WrapperAdopt{key, json.at("owner").get<uid_t>()};
    if (call != "end")
        throw std::invalid_argument("unknown call '" + call + "'");
    WrapperEnd end{key, json.at("leader").get<pid_t>(), {}};
    optionalFromJson(json, "exit_status", end.exit.status);
    optionalFromJson(json, "exit_signal", end.exit.signal);
    optionalFromJson(json, "task", end.task);
    end.receipt = json.value("receipt", false);
    end.toldOfRefusal = json.value("told_of_refusal", false);
    takeIdentityIfSet(json, end.identity);
    const bool exited = end.exit.status && !end.exit.signal && *end.exit.status >= 0 && *end.exit.status <= 255;
    const bool signaled = end.exit.signal && !end.exit.status && *end.exit.signal >= 1 && *end.exit.signal <= 64;
    if (!exited && !signaled && (end.leader != 0 || end.exit.known()))
        throw std::invalid_argument("use either exit_status, 0 to 255, or exit_signal, 1 to 64");
    return end;
}

Result<WrapperReply> replyFromJson(const Json& json) {
    if (json.contains("key")) {
        WrapperReply reply;
        reply.key = json.at("key").get<std::string>();
        reply.environment = json.value("environment", reply.environment);
        reply.notice = json.value("notice", std::string());
        reply.summary = json.value("summary", std::string());
        optionalFromJson(json, "task", reply.task);
        if (const auto receipt = json.find("receipt"); receipt != json.end()) {
            auto decoded = decodeReceipt(dump(*receipt));
            if (!decoded)
                throw std::invalid_argument(decoded.error().message);
            reply.receipt = std::move(*decoded);
        }
        if (const auto jobs = json.find("jobs"); jobs != json.end()) {
            reply.jobs.emplace();
            for (const auto& job : *jobs)
                reply.jobs->push_back(
                    {job.at("key").get<std::string>(), shownStateFromString(job.at("state").get<std::string>())});
        }
        return reply;
    }
    const auto code = errorCodeFromDbusName(std::string(kDbusErrorPrefix) + json.at("error").get<std::string>());
    return Error{code.value_or(ErrorCode::Internal), json.at("message").get<std::string>()};
}

Json errorToJson(const Error& error) { return {{"error", errorRow(error.code).dbusName}, {"message", error.message}}; }

/// Returns a copy of the receipt without the command lines of leftovers and without the list of tasks. The wrapper that asks
/// for the receipt needs neither the command lines nor the list of tasks. Users choose the command lines, and a command line
/// can be far longer than a packet.
Json withoutLists(Receipt receipt) {
    receipt.leftovers.commands.clear();
    receipt.taskList.clear();
    return parseJson(encode(receipt));
}

Json replyToJson(const Result<WrapperReply>& reply) {
    if (!reply)
        return errorToJson(reply.error());
    Json json{{"key", reply->key}};
    if (!reply->environment.empty())
        json["environment"] = reply->environment;
    if (!reply->notice.empty())
        json["notice"] = reply->notice;
    if (!reply->summary.empty())
        json["summary"] = reply->summary;
    putIfSet(json, "task", reply->task);
    if (reply->receipt)
        json["receipt"] = withoutLists(*reply->receipt);
    if (reply->jobs) {
        json["jobs"] = Json::array();
        for (const auto& job : *reply->jobs)
            json["jobs"].push_back({{"key", job.key}, {"state", toString(job.state)}});
    }
    return json;
}

} // namespace

std::string encode(const WrapperRequest& request) {
    return dump(std::visit([](const auto& call) { return toJson(call); }, request));
}

Result<WrapperRequest> decodeWrapperRequest(std::string_view packet) {
    auto request = decode<WrapperRequest>(packet, "request", requestFromJson);
    if (request && encode(*request) != packet)
        return Error{ErrorCode::InvalidArgument, kUnknownForm};
    return request;
}

bool saysUnknownForm(const Error& error) { return error.code == ErrorCode::InvalidArgument && error.message == kUnknownForm; }

std::string encodeWrapperReply(const Result<WrapperReply>& reply) {
    auto packet = dump(replyToJson(reply));
    if (packet.size() <= kMaxWrapperPacket)
        return packet;
    return dump(errorToJson({ErrorCode::Internal, "pinfoldd's answer is too large: it has " + std::to_string(packet.size()) +
                                                      " bytes, and a packet holds " + std::to_string(kMaxWrapperPacket)}));
}

Result<WrapperReply> decodeWrapperReply(std::string_view packet) {
    auto reply = decode<Result<WrapperReply>>(packet, "pinfoldd's answer", replyFromJson);
    return reply ? std::move(*reply) : Result<WrapperReply>(Error{ErrorCode::Internal, reply.error().message});
}

} // namespace pinfold
