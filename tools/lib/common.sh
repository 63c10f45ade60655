# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The tools source this file, which defines the paths of the project and common functions.

set -euo pipefail

# shellcheck disable=SC2034  # used by those who source this
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034
lib=$top/tools/lib
# shellcheck disable=SC2034
cache=${PINFOLD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pinfold}

# `release` is the Debian release for which pinfold is built. The boxes run the Debian release `release`.
hostRelease=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# shellcheck disable=SC2034
release=${PINFOLD_RELEASE:-$hostRelease}
# `arch` is the architecture for which a cross compiler builds pinfold. `arch` is empty if pinfold is built for the architecture of this
# host.
# shellcheck disable=SC2034
arch=${PINFOLD_ARCH:-}

# The array `directories` has the options that tell meson into which directories meson installs pinfold. The Debian packages of pinfold use
# the same directories as this array.
# shellcheck disable=SC2034
directories=(--prefix=/usr --sysconfdir=/etc --localstatedir=/var)

# The array `joined` has the options with which the compiler reads up to eight sources of a target as one source. The compiler thus reads each
# header less often, so a build takes less time.
# shellcheck disable=SC2034
joined=(--unity=on --unity-size=8)

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

isRoot() { [[ $EUID -eq 0 ]]; }

# Succeeds if pinfold can be built on this host, outside of a root tree. If isForHost fails, tools/lib/in-release builds pinfold in a root
# tree.
isForHost() { [[ $release == "$hostRelease" && -z $arch ]]; }

# Prints the path of the root tree from which a box boots. PINFOLD_TREE can name a tree that has more packages, such as a tree of
# tools/lib/real-tree. If PINFOLD_TREE is not set, the box boots from the root tree that tools/lib/image makes.
rootTree() { echo "${PINFOLD_TREE:-$("$lib/image" tree)}"; }

# mountTree DIR: makes the directory DIR with the contents of the root tree. The root tree itself does not change: the files that are written to
# DIR are in memory, in DIR.changes. The caller has its own mount namespace.
mountTree() {
    mkdir -- "$1" "$1.changes"
    mount -t tmpfs -o mode=755 changes "$1.changes"
    mkdir -- "$1.changes/"{files,overlayfs}
    mount -t overlay -o "lowerdir=$(rootTree),upperdir=$1.changes/files,workdir=$1.changes/overlayfs" tree "$1"
}

# Prints why this host cannot boot a box of the given kind ("container", "cluster" or "vm"). If the host can boot the box, missingNeed
# prints nothing.
missingNeed() {
    isRoot || { echo "not root"; return; }
    have mmdebstrap || { echo "no mmdebstrap"; return; }
    case $1 in
    container | cluster)
        have systemd-nspawn || { echo "no systemd-nspawn"; return; }
        [[ -d /run/systemd/system || -n $(cgroupTop) ]] || { echo "no writable cgroup v2 tree"; return; }
        [[ $1 == container ]] || have ssh-keygen || { echo "no ssh-keygen"; return; }
        [[ $1 == container ]] || unshare --net ip link add type veth 2>/dev/null || { echo "no veth interfaces"; return; }
        ;;
    vm)
        have qemu-system-x86_64 || { echo "no qemu-system-x86_64"; return; }
        have mke2fs || { echo "no mke2fs"; return; }
        ;;
    esac
}

# Prints the top directory of this host's cgroup v2 tree if this process has the right to write to this directory. If the host
# has both cgroup v1 and cgroup v2, the directory is /sys/fs/cgroup/unified.
cgroupTop() {
    local dir
    for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        if [[ -f $dir/cgroup.procs && -f $dir/cgroup.controllers && -w $dir/cgroup.procs ]]; then
            echo "$dir"
            return
        fi
    done
}

# sources [OPTION…]: writes a tar archive of this checkout to the standard output. The tar archive does not contain the directories that
# builds have made. OPTION… are further options of tar.
sources() {
    tar -C "$top" --exclude-vcs --exclude='./build*' --exclude=./dist --exclude=__pycache__ "$@" -cf - .
}
