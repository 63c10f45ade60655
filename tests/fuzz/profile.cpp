// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the profiles in the history, the curves on the pages, and the recorders of live jobs. pinfoldd reads the recorders after
// a restart.
#include "fuzz.hpp"
#include "model/profile_recorder.hpp"
#include "wording/profile_text.hpp"
#include "wording/report_html.hpp"

#include <cmath>

using namespace pinfold;

namespace {

void draw(const Profile& profile) {
    (void)profileLines(profile, Amounts{});
    (void)profileCharts(profile, ChartLimits{}, Amounts{}, 80);
    (void)htmlReport({{.receipt = {}, .profile = profile}}, [](uid_t) { return std::string("anna"); });
    for (const auto curve : kAllCurves) {
        const auto values = valuesOf(profile, curve, 80);
        for (const double value : values)
            fuzz::require(std::isfinite(value) && value >= 0, "each value of a curve is a number");
        (void)sparkline(values, highestOf(profile, curve));
    }
}

void read(std::string_view bytes) {
    auto profile = decodeProfile(bytes);
    if (!profile)
        return fuzz::requireOneLine(profile.error());
    const auto encoded = encode(*profile);
    const auto again = decodeProfile(encoded);
    fuzz::require(again && encode(*again) == encoded, "a profile that is encoded again is the same profile");
    draw(*profile);
    for (int i = 0; i < 3; ++i)
        profile->add({.length = 1s, .mean = {}, .most = {}});
    fuzz::require(encode(*profile).size() <= Profile::kMostBytes, "a profile has at most kMostBytes bytes");
}

void readRecorder(std::string_view text) {
    auto recorder = decodeRecorder("job", text);
    if (!recorder)
        return fuzz::requireOneLine(recorder.error());
    recorder->look(recorder->lastLook() + 10s, {});
    draw(recorder->profile());
    const auto encoded = encode("job", *recorder);
    const auto again = decodeRecorder("job", encoded);
    fuzz::require(again && encode("job", *again) == encoded, "a recorder that is encoded again is the same recorder");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::text(data, size);
    read(bytes);
    readRecorder(bytes);
    return 0;
}
