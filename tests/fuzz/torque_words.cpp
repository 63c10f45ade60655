// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads the data that scripts get from Torque's pbs_mom. A user can choose the resource list of a job and the
// environment of a task. An input has four sections: words, environment, nodefile and jobfile. In the section `words`, each
// line is one argument. In the section `environment`, each line is NAME=VALUE.
#include "adapters/torque/translate.hpp"
#include "fuzz.hpp"

using namespace pinfold;

namespace {

constexpr std::string_view kCookie = "0123456789ABCDEF0123456789ABCDEF";

torque::Environment environmentOf(std::string_view text) {
    torque::Environment environment;
    fuzz::forEachLine(text, [&environment](std::string_view line) {
        const auto equals = std::min(line.find('='), line.size());
        environment.insert_or_assign(std::string(line.substr(0, equals)),
                                     std::string(line.substr(std::min(equals + 1, line.size()))));
    });
    return environment;
}

template <class T> void requireAnswer(const Result<T>& result) {
    if (!result)
        fuzz::requireOneLine(result.error());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto sections = fuzz::sections(fuzz::text(data, size));
    torque::Words words;
    fuzz::forEachLine(sections["words"], [&words](std::string_view line) { words.emplace_back(line); });
    const auto environment = environmentOf(sections["environment"]);
    requireAnswer(torque::openArguments(words, environment, sections["nodefile"]));
    requireAnswer(torque::endArguments(words, environment));
    requireAnswer(torque::startedTask(environment));
    for (const auto& word : words)
        (void)torque::loginName(word);
    if (const auto found = torque::identity(sections["jobfile"], kCookie))
        fuzz::require(!found->jobId.empty() && found->uid != static_cast<uid_t>(-1), "an identity is a job's and a user's");
    return 0;
}
