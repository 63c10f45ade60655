// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements the module `hang` of the C library's name service ("passwd: files hang"). The module `hang` knows no users. While
// the file /run/names-hang exists, the module `hang` does not answer.
#include <nss.h>
#include <pwd.h>
#include <unistd.h>

#include <cstddef>

extern "C" enum nss_status _nss_hang_getpwnam_r(const char*, struct passwd*, char*, std::size_t, int*) {
    while (::access("/run/names-hang", F_OK) == 0)
        ::usleep(10'000);
    return NSS_STATUS_NOTFOUND;
}
