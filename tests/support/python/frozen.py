# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a file system whose writers cannot be killed. The conftest.py of a suite in a virtual machine imports this module."""

import pytest

from jobs import run, wait_until


@pytest.fixture
def frozen(tmp_path):
    """Mounts and freezes a file system, and gives the test the directory of the mounted file system."""
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    run("truncate", "-s", "16M", image)
    run("mke2fs", "-q", "-F", "-t", "ext4", image)
    run("mount", "-o", "loop", image, mount)
    mount.chmod(0o1777)
    tmp_path.chmod(0o755)
    run("fsfreeze", "--freeze", mount)
    yield mount
    run("fsfreeze", "--unfreeze", mount, check=False)
    wait_until(lambda: run("umount", mount, check=False).returncode == 0, "nobody uses it")
