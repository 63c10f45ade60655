// SPDX-License-Identifier: LGPL-2.1-or-later
// The checks for OpenPBS follow docs/schedulers/openpbs.md. MoM stores the attributes of a hook in mom_priv/hooks/NAME.HK, as
// lines NAME=VALUE. If the file has no line for an attribute, the attribute has the default value of OpenPBS (hook.h).
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "doctor/checks.hpp"

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr const char* kConf = "/etc/pbs.conf";
constexpr const char* kEvents[] = {"execjob_begin",       "execjob_launch",    "execjob_attach",   "execjob_resize",
                                   "execjob_postsuspend", "execjob_preresume", "execjob_epilogue", "execjob_end",
                                   "execjob_abort",       "exechost_periodic"};
constexpr std::uint64_t kAlarm = 90; ///< the time limit ("alarm") of the hook in seconds; the hook itself takes at most 80 s

std::string setting(const std::string& text, const std::string& name, const std::string& otherwise) {
    std::string value = otherwise;
    for (const auto& line : meaningfulLines(text))
        if (line.text.starts_with(name + "="))
            value = line.text.substr(name.size() + 1);
    std::erase(value, '"');
    return value;
}

bool enabled(const std::string& hook) { return lowerCase(setting(hook, "enabled", "true")) == "true"; }

std::string missingEvents(const std::string& hook) {
    auto events = setting(hook, "event", "");
    std::replace(events.begin(), events.end(), ',', ' ');
    std::vector<std::string> missing;
    for (const char* event : kEvents)
        if (!hasWord(events, event))
            missing.emplace_back(event);
    return enumerated(missing, "and");
}

void checkHook(const Files& files, const std::filesystem::path& directory, Findings& findings) {
    const char* id = "openpbs.hook";
    const auto file = directory / "pinfold.HK";
    const auto hook = files.read(file);
    if (!hook) {
        findings.warn(id, "OpenPBS's jobs do not use pinfold: MoM has no hook with the name pinfold",
                      "on the server, by qmgr, as in docs/schedulers/openpbs.md: create, import and enable the hook pinfold",
                      file);
        return;
    }
    const auto missing = missingEvents(*hook);
    const auto alarm = parseUnsigned(setting(*hook, "alarm", "30"));
    if (!enabled(*hook))
        findings.warn(id, "OpenPBS's jobs do not use pinfold: the hook pinfold is not enabled",
                      "on the server: qmgr -c \"set hook pinfold enabled = true\"", file);
    else if (!files.exists(directory / "pinfold.PY"))
        findings.fail(id, "the hook pinfold has no program: no job can start",
                      "on the server: qmgr -c \"import hook pinfold application/x-python default "
                      "/usr/libexec/pinfold/openpbs/pinfold_hook.py\", as in "
                      "docs/schedulers/openpbs.md",
                      directory / "pinfold.PY");
    else if (!missing.empty())
        findings.fail(id, "MoM does not call the hook pinfold for " + missing,
                      "on the server: qmgr -c \"set hook pinfold event += '...'\"", file);
    else if (!alarm || *alarm < kAlarm)
        findings.warn(id, "the hook's alarm is too short: MoM may end the hook before the hook answers",
                      "on the server: qmgr -c \"set hook pinfold alarm = 90\"", file);
    else
        findings.ok(id, "OpenPBS's jobs use pinfold", file);
}

/// Checks that OpenPBS's own hook pbs_cgroups is off. The hook pbs_cgroups would move the processes of jobs into other cgroups.
void checkOther(const Files& files, const std::filesystem::path& directory, Findings& findings) {
    const auto file = directory / "pbs_cgroups.HK";
    const auto hook = files.read(file);
    if (hook && enabled(*hook))
        findings.fail("openpbs.cgroups", "the hook pbs_cgroups puts jobs into cgroups of its own",
                      "on the server: qmgr -c \"set hook pbs_cgroups enabled = false\"", file);
    else
        findings.ok("openpbs.cgroups", "the hook pbs_cgroups is off");
}

} // namespace

void checkOpenPbs(const Host& host, const Files& files, Findings& findings) {
    const auto conf = files.text(kConf);
    if (setting(conf, "PBS_START_MOM", "0") != "1")
        return;
    const auto directory = std::filesystem::path(setting(conf, "PBS_HOME", "/var/spool/pbs")) / "mom_priv/hooks";
    const auto access = files.access(directory);
    if (access == Access::Denied || (access == Access::There && !files.listable(directory) && !host.privileged)) {
        findings.needsRoot("openpbs.hook", directory);
        return;
    }
    checkHook(files, directory, findings);
    checkOther(files, directory, findings);
}

} // namespace pinfold::doctor
