// SPDX-License-Identifier: LGPL-2.1-or-later
// sshd and other programs load pam_pinfold. The module decides whether a user is allowed to log in, and puts the login into the
// user's job. A program such as sshd loads the module into its process, and the module runs there as root. The module uses no
// threads, no signal handlers and no static objects. No exception leaves the module.
#include "base/error_code.hpp"
#include "base/escape.hpp"
#include "base/paths.hpp"
#include "pam/login.hpp"

#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

namespace {

using namespace pinfold;
using namespace pinfold::pam;

static_assert(kPamSuccess == PAM_SUCCESS && kPamSystemErr == PAM_SYSTEM_ERR && kPamPermDenied == PAM_PERM_DENIED &&
              kPamAuthinfoUnavail == PAM_AUTHINFO_UNAVAIL && kPamSessionErr == PAM_SESSION_ERR);

template <class F> int guarded(pam_handle_t* pam, F&& phase) noexcept {
    try {
        return phase();
    } catch (const std::exception& error) {
        pam_syslog(pam, LOG_ERR, "unexpected error: %s", error.what());
        return PAM_SYSTEM_ERR;
    }
}

std::string node() {
    std::array<char, 65> name{}; // 64 bytes for the longest host name on Linux, and 1 byte for the zero at the end
    return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "this node";
}

int phase(pam_handle_t* pam, int flags, int argc, const char** argv,
          Outcome (*decide)(const Login&, const PamOptions&, const std::string&)) {
    const char* name = nullptr;
    if (const auto status = pam_get_user(pam, &name, nullptr); status != PAM_SUCCESS)
        return status;
    const passwd* user = pam_modutil_getpwnam(pam, name);
    if (!user)
        return PAM_USER_UNKNOWN;

    const auto options = parsePamOptions({argv, static_cast<std::size_t>(argc)});
    Login login{.user = name, .uid = user->pw_uid, .node = node()};
    login.admitted =
        login.uid != 0 && std::any_of(options.admitGroups.begin(), options.admitGroups.end(), [&](const auto& group) {
            return pam_modutil_user_in_group_nam_nam(pam, name, group.c_str()) != 0;
        });
    if (const char* connection = pam_getenv(pam, "SSH_CONNECTION"))
        login.connection = connection;

    const auto outcome = decide(login, options, kWrapperSocket);
    if (!outcome.toLog.empty())
        pam_syslog(pam, outcome.priority, "%s", outcome.toLog.c_str());
    if (!outcome.toUser.empty() && (flags & PAM_SILENT) == 0)
        pam_error(pam, "%s", outcome.toUser.c_str());
    for (const auto& [variable, value] : outcome.environment)
        pam_putenv(pam, (variable + "=" + value).c_str());
    return outcome.pamCode;
}

} // namespace

extern "C" {

int pam_sm_acct_mgmt(pam_handle_t* pam, int flags, int argc, const char** argv) {
    return guarded(pam, [&] { return phase(pam, flags, argc, argv, account); });
}

int pam_sm_open_session(pam_handle_t* pam, int flags, int argc, const char** argv) {
    return guarded(pam, [&] { return phase(pam, flags, argc, argv, openSession); });
}

/// The module does nothing at the end of a session. Processes that the session leaves behind belong to the job, and end with
/// the job.
int pam_sm_close_session(pam_handle_t*, int, int, const char**) { return PAM_SUCCESS; }

int pam_sm_authenticate(pam_handle_t*, int, int, const char**) { return PAM_IGNORE; }

int pam_sm_setcred(pam_handle_t*, int, int, const char**) { return PAM_IGNORE; }

int pam_sm_chauthtok(pam_handle_t*, int, int, const char**) { return PAM_IGNORE; }
}
