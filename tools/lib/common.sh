# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the tools: has the paths of the project, and functions for messages.

set -euo pipefail

# shellcheck disable=SC2034  # used by those who source this
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034
lib=$top/tools/lib
# shellcheck disable=SC2034
cache=${PINFOLD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pinfold}

# The Debian release for which pinfold is built, and which the boxes have.
hostRelease=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# shellcheck disable=SC2034
release=${PINFOLD_RELEASE:-$hostRelease}
# The architecture for which pinfold is built by a cross compiler. It is empty if pinfold is built for this host's architecture.
# shellcheck disable=SC2034
arch=${PINFOLD_ARCH:-}

# The directories of an installation, as options of meson. Debian's packages have these directories.
# shellcheck disable=SC2034
directories=(--prefix=/usr --sysconfdir=/etc --localstatedir=/var)

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

isRoot() { [[ $EUID -eq 0 ]]; }

# Succeeds if this host itself can build pinfold. If it cannot, pinfold is built in a root tree (tools/lib/in-release).
isForHost() { [[ $release == "$hostRelease" && -z $arch ]]; }

# Prints the path of a box's root tree: PINFOLD_TREE, which tools/lib/real-tree has made, or pinfold's own tree.
rootTree() { echo "${PINFOLD_TREE:-$("$lib/image" tree)}"; }

# Prints the path of the disk of a VM: pinfold's own disk, or a disk that is made from the root tree PINFOLD_TREE.
rootDisk() {
    if [[ -z ${PINFOLD_TREE:-} ]]; then
        "$lib/image" disk
        return
    fi
    local disk=$PINFOLD_TREE.img part=$PINFOLD_TREE.img.part.$$
    if [[ ! -e $disk ]]; then
        truncate -s 6G "$part"
        mke2fs -q -F -t ext4 -L root -d "$PINFOLD_TREE" "$part" >&2
        mv -- "$part" "$disk"
    fi
    echo "$disk"
}

# Prints why a box of the given kind ("container", "cluster" or "vm") is not available here, or nothing if it is available.
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

# Prints the top directory of this host's cgroup v2 tree, if this process may write to the directory. On a host that also has
# cgroup v1, this is /sys/fs/cgroup/unified.
cgroupTop() {
    local dir
    for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        if [[ -f $dir/cgroup.procs && -f $dir/cgroup.controllers && -w $dir/cgroup.procs ]]; then
            echo "$dir"
            return
        fi
    done
}

# sources [OPTION…]: writes a tar of this tree, without what was built in it, to the standard output. OPTION… are more options of tar.
sources() {
    tar -C "$top" --exclude-vcs --exclude='./build*' --exclude=./dist --exclude=__pycache__ "$@" -cf - .
}
