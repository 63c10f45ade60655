// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/profile_recorder.hpp"

#include "base/hexadecimal.hpp"
#include "model/json.hpp"

#include <algorithm>

namespace pinfold {
namespace {

/// Calls f(name, member) for each member of `reading`.
template <class R, class F> void forEachNumber(R& reading, F&& f) {
    f("age", reading.age);
    f("cpu", reading.cpu);
    f("memory_pressure", reading.memoryPressure);
    f("io", reading.io);
    f("anon", reading.anon);
    f("shmem", reading.shmem);
    f("cache", reading.cache);
    f("tasks", reading.tasks);
}

} // namespace

ProfileRecorder::Reading ProfileRecorder::readingOf(Microseconds age, const Usage& usage) {
    Reading reading;
    reading.age = age;
    reading.cpu = usage.cpuUser.value_or(0s) + usage.cpuSystem.value_or(0s);
    reading.memoryPressure = usage.memoryPressure.value_or(0s);
    reading.io = usage.ioRead.value_or(0) + usage.ioWritten.value_or(0);
    reading.anon = usage.memoryAnon.value_or(0);
    reading.shmem = usage.memoryShmem.value_or(0);
    reading.cache = usage.memoryFile.value_or(0) - std::min(usage.memoryFile.value_or(0), reading.shmem);
    reading.tasks = usage.tasksCurrent.value_or(0);
    return reading;
}

void ProfileRecorder::look(Microseconds age, const Usage& usage) {
    if (usage.memoryAnon && usage.memoryShmem)
        needs(*usage.memoryAnon + *usage.memoryShmem);
    if (age <= last_.age)
        return;
    ++looks_;
    add(readingOf(age, usage));
}

void ProfileRecorder::end(Microseconds age, const Usage& usage) {
    if (age <= last_.age)
        return;
    auto reading = readingOf(age, usage);
    reading.anon = last_.anon;
    reading.shmem = last_.shmem;
    reading.cache = last_.cache;
    reading.tasks = last_.tasks;
    add(reading);
}

void ProfileRecorder::add(const Reading& reading) {
    const auto time = reading.age - last_.age;
    const auto seconds = static_cast<double>(time.count()) / 1e6;
    ProfilePoint point{.length = time};
    const auto set = [&point](Measure measure, double mean, double most) {
        point.mean[static_cast<std::size_t>(measure)] = static_cast<float>(mean);
        point.most[static_cast<std::size_t>(measure)] = static_cast<float>(most);
    };
    const auto amount = [&set](Measure measure, std::uint64_t before, std::uint64_t now) {
        set(measure, (static_cast<double>(before) + static_cast<double>(now)) / 2, static_cast<double>(std::max(before, now)));
    };
    const auto rate = [&](Measure measure, std::uint64_t before, std::uint64_t now) {
        const auto perSecond = static_cast<double>(now - std::min(before, now)) / seconds;
        set(measure, perSecond, perSecond);
    };
    amount(Measure::Anon, last_.anon, reading.anon);
    amount(Measure::Shmem, last_.shmem, reading.shmem);
    amount(Measure::Cache, last_.cache, reading.cache);
    amount(Measure::Tasks, last_.tasks, reading.tasks);
    rate(Measure::Cpu, last_.cpu.count(), reading.cpu.count());
    rate(Measure::Io, last_.io, reading.io);
    rate(Measure::MemoryPressure, last_.memoryPressure.count(), reading.memoryPressure.count());
    profile_.add(point);
    last_ = reading;
}

std::string encode(const std::string& job, const ProfileRecorder& recorder) {
    Json json;
    put(json, "job", job);
    put(json, "need", optionalToJson(recorder.need_));
    forEachNumber(recorder.last_, [&json](const char* name, const auto& value) { put(json, name, Json(value)); });
    put(json, "profile", hexadecimal(encode(recorder.profile_)));
    return dump(json);
}

Result<ProfileRecorder> decodeRecorder(const std::string& job, std::string_view text) {
    return decode<ProfileRecorder>(text, "profile", [&job](const Json& json) {
        if (json.at("job").get<std::string>() != job)
            throw std::invalid_argument("it belongs to another job");
        ProfileRecorder recorder;
        optionalFromJson(json, "need", recorder.need_);
        forEachNumber(recorder.last_, [&json](const char* name, auto& value) { json.at(name).get_to(value); });
        const auto bytes = fromHexadecimal(json.at("profile").get<std::string>());
        auto profile = bytes ? decodeProfile(*bytes) : Result<Profile>(bytes.error());
        if (!profile)
            throw std::invalid_argument(profile.error().message);
        recorder.profile_ = *std::move(profile);
        return recorder;
    });
}

} // namespace pinfold
