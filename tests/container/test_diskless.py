# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what docs/diskless.md says about a node with /var in memory and a read-only root file system. Also tests that dpkg can install pinfold into
the image of a node when chroot(8) runs dpkg in the image."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from jobs import (expect_nothing_left, finish, live_jobs, main_pid, read_journal, receipts, run, site, start_job, systemd_version, wait_running,
                  wait_until)

LIB = Path("/var/lib/pinfold")
RUNTIME = Path("/run/pinfold")
IMAGE = Path("/run/pinfold-test-image")
UNITS = {"multi-user.target.wants/pinfoldd.service", "sockets.target.wants/pinfoldd.socket"}


def stop():
    """If systemd is about to restart a failed pinfoldd, the restart cancels the stop of the socket. stop() repeats `systemctl stop` until the
    command succeeds."""
    wait_until(lambda: run("systemctl", "stop", "pinfoldd.socket", "pinfoldd", check=False).returncode == 0, "pinfoldd stopped")


def start():
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


def mount_var():
    """Acts like a boot: mounts an empty file system, and lets systemd-tmpfiles write to it."""
    run("mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", "/var")
    run("systemd-tmpfiles", "--create", "--prefix=/var", check=False)


@pytest.fixture
def journal_in_run():
    """During the test, journald writes nothing to /var."""
    run("journalctl", "--relinquish-var")
    yield
    run("journalctl", "--flush")


@pytest.fixture
def var_in_memory(journal_in_run):
    stop()
    mount_var()
    start()
    yield
    stop()
    run("umount", "-l", "/var")
    start()


def lose_memory():
    """Acts like a reboot of a node with /var in memory. pinfoldd must be stopped."""
    run("umount", "-l", "/var")
    mount_var()
    shutil.rmtree(RUNTIME)


def wait_for_exit_status(expected):
    """While systemd starts a failed service again, it does not show the exit status of the failure."""
    wait_until(lambda: run("systemctl", "show", "-P", "ExecMainStatus", "pinfoldd").stdout.strip() == expected, f"the status {expected}")


def query(text):
    with contextlib.closing(sqlite3.connect(LIB / "history.db")) as history, history:
        return history.execute(text).fetchall()


def troubles():
    """Returns the warnings and errors of the running pinfoldd."""
    invocation = run("systemctl", "show", "-P", "InvocationID", "pinfoldd").stdout.strip()
    return read_journal("-o", "cat", "-p", "warning", "-u", "pinfoldd", f"_SYSTEMD_INVOCATION_ID={invocation}")


def test_history_and_drain_live_in_memory(var_in_memory):
    assert run("findmnt", "-n", "-o", "FSTYPE", "-T", LIB).stdout.strip() == "tmpfs"
    assert finish(start_job("memory.1", "sh", "-c", "exit 7"))[0] == 7
    run("pinfold", "drain", "--reason", "new disk")
    run("systemctl", "restart", "pinfoldd")
    assert [(receipt["key"], receipt["exit_status"]) for receipt in receipts()] == [("memory.1", 7)]
    assert finish(start_job("memory.2", "true"))[0] == 125
    run("pinfold", "undrain")
    assert finish(start_job("memory.2", "true"))[0] == 0
    assert {path.name for path in LIB.iterdir()} == {"history.db", "history.db-wal", "history.db-shm"}
    expect_nothing_left()


def test_a_reboot_loses_history_and_drain_and_the_node_takes_jobs(var_in_memory):
    assert finish(start_job("before.1", "true"))[0] == 0
    run("pinfold", "drain", "--reason", "new disk")
    stop()
    lose_memory()
    start()
    assert receipts() == [] and live_jobs() == {}
    assert run("pinfold", "why", "before.1", check=False).returncode == 4
    assert troubles() == ""
    assert finish(start_job("after.1", "true"))[0] == 0
    assert [receipt["key"] for receipt in receipts()] == ["after.1"]
    assert LIB.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "lost"])
def test_a_power_cut(var_in_memory, kept):
    """The power fails while a job runs. If the history still exists, the job gets its receipt from the history's table of live jobs."""
    job = start_job("cut.1", "sleep", "1000")
    wait_running("cut.1")
    wait_until(lambda: query("SELECT key FROM live") == [("cut.1",)], "the history knows the live job")
    stop()
    job.kill()
    run("systemctl", "stop", "batch-cut.1.slice")
    job.communicate()
    if kept:
        shutil.rmtree(RUNTIME)
        query("UPDATE live SET boot = '0123456789abcdef0123456789abcdef'")
    else:
        lose_memory()
    start()
    expected = [("cut.1", "node-lost")] if kept else []
    wait_until(lambda: [(receipt["key"], receipt["result"]) for receipt in receipts()] == expected, "the receipts")
    assert finish(start_job("cut.2", "true"))[0] == 0
    assert [receipt["key"] for receipt in receipts()] == ["cut.2", *(key for key, _ in expected)]
    expect_nothing_left()


def test_max_size_bounds_the_memory(var_in_memory):
    """The history's file becomes smaller in small steps."""
    assert finish(start_job("many.1", "true"))[0] == 0
    query("WITH RECURSIVE copies(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM copies WHERE n < 3000)"
          " INSERT INTO receipts (id, key, uid, ended, receipt, kind)"
          " SELECT id || n, 'many.' || n, uid, ended, receipt, kind FROM receipts, copies")
    with site('[history]\nmax_size = "1M"\n'):
        run("pinfold", "vacuum")
        assert 0 < query("SELECT count(*) FROM receipts")[0][0] < 2000
        assert (LIB / "history.db-wal").stat().st_size <= 8 << 20

        def returned():
            run("pinfold", "vacuum")
            return query("PRAGMA freelist_count") == [(0,)]
        wait_until(returned, "no free space inside of the history")
    stop()
    assert {path.name for path in LIB.iterdir()} == {"history.db"}
    assert (LIB / "history.db").stat().st_size <= 1 << 20


def make_root_read_only():
    """While a program has a file of the root file system open for writing, the kernel refuses to make the file system read-only."""
    wait_until(lambda: run("mount", "-o", "remount,bind,ro", "/", check=False).returncode == 0, "the root file system is read-only")


@pytest.fixture
def read_only_root(journal_in_run):
    """Processes of the node cannot write to the root file system. /var/lib/pinfold is in memory."""
    stop()
    run("mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", LIB)
    make_root_read_only()
    try:
        start()
        yield
        stop()
    finally:
        run("mount", "-o", "remount,bind,rw", "/")
        run("umount", "-l", LIB)
        start()


def test_a_read_only_root(read_only_root):
    for directory in ("/etc", "/var/lib", "/var/tmp"):
        with pytest.raises(OSError, match="Read-only"):
            Path(directory, "written").touch()
    assert str(LIB) in run("systemctl", "show", "-P", "RequiresMountsFor", "pinfoldd").stdout.split(), "mounted before, unmounted after"
    assert finish(start_job("readonly.1", "sh", "-c", "exit 7"))[0] == 7
    assert [(receipt["key"], receipt["exit_status"]) for receipt in receipts()] == [("readonly.1", 7)]
    run("pinfold", "drain", "--reason", "test")
    run("systemctl", "restart", "pinfoldd")
    assert finish(start_job("readonly.2", "true"))[0] == 125
    run("pinfold", "undrain")
    assert troubles() == ""


def test_a_read_only_root_without_the_directory(journal_in_run):
    stop()
    away = LIB.with_name("pinfold-away")
    LIB.rename(away)
    make_root_read_only()
    try:
        failed = run("systemctl", "start", "pinfoldd", check=False)
        assert failed.returncode != 0
        wait_for_exit_status("238")
    finally:
        stop()
        run("mount", "-o", "remount,bind,rw", "/")
        away.rename(LIB)
        start()


def test_a_read_only_tmp():
    """When systemd 252 sets up the private /dev of a service, systemd makes a directory in /tmp. systemd 257 does not need /tmp for the private
    /dev."""
    stop()
    run("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", "/tmp")
    try:
        starts = run("systemctl", "start", "pinfoldd", check=False).returncode == 0
        assert starts == (systemd_version() >= 257)
        wait_for_exit_status("0" if starts else "226")
    finally:
        stop()
        run("umount", "-l", "/tmp")  # if a service starts at this moment, the service can have a copy of the mount
        start()


@pytest.fixture
def image():
    """Makes a root tree in which no systemd runs. The tree contains the box's root file system, but not the file systems that are mounted below the
    root."""
    IMAGE.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", IMAGE)
    for name in ("upper", "work", "root"):
        (IMAGE / name).mkdir()
    root = IMAGE / "root"
    run("mount", "-t", "overlay", "-o", f"lowerdir=/,upperdir={IMAGE}/upper,workdir={IMAGE}/work", "overlay", root)
    run("mount", "--bind", "/dev", root / "dev")
    yield root
    run("umount", "-l", root / "dev")
    run("umount", "-l", root)
    run("umount", "-l", IMAGE)
    IMAGE.rmdir()


def test_the_packages_go_into_an_image(image):
    def in_image(*command, **how):
        return run("chroot", image, *command, env={"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive"}, **how)

    def enabled():
        return {str(path.relative_to(image / "etc/systemd/system")) for path in image.glob("etc/systemd/system/*/pinfold*")}
    assert not (image / "run/systemd/system").exists()
    pid = main_pid()
    in_image("sh", "-c", "dpkg --purge $(dpkg-query -f '${Package}\\n' -W '*pinfold*')")
    in_image("groupdel", "pinfold-admin")
    assert not (image / "usr/libexec/pinfoldd").exists() and enabled() == set()
    deb, = Path("/payload/packages").glob("pinfold_*.deb")
    shutil.copy(deb, image / "pinfold.deb")
    in_image("dpkg", "--install", "/pinfold.deb")
    assert enabled() == UNITS
    assert in_image("getent", "group", "pinfold-admin").stdout.startswith("pinfold-admin:")
    assert (image / "etc/pinfold/pinfold.toml").exists() and not (image / "var/lib/pinfold").exists()
    in_image("pinfold", "check-config")
    run("systemctl", "--root", image, "disable", "pinfoldd.service", "pinfoldd.socket")
    in_image("groupdel", "pinfold-admin")
    assert enabled() == set()
    run("systemctl", "--root", image, "enable", "pinfoldd.service")
    run("systemd-sysusers", "--root", image, "pinfold.conf")
    assert enabled() == UNITS and in_image("getent", "group", "pinfold-admin").stdout
    assert main_pid() == pid, "this node's pinfoldd is another"
