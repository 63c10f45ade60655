# SPDX-License-Identifier: LGPL-2.1-or-later
"""A job has an I/O limit for a disk. The job's owner tries to loosen the I/O limit by means of another name for the same disk. More attacks are in
tests/hostile."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from jobs import BATCH, as_alice, batch_script, expect_nothing_left, finish, run, site

KEY = "names.1"
DISK, OTHER_DISK = "/dev/vda", "/dev/vdb"
NUMBER = Path("/sys/block/vda/dev").read_text().strip()
FILES = [BATCH / f"batch-{KEY}.slice/io.max", BATCH / f"batch-{KEY}.slice/job-{KEY}.scope/io.max"]
BEFORE = [f"{NUMBER} rbps=2097152 wbps=max riops=max wiops=max\n"] * 2
OWN = "/dev/shm/alice/disk"  # a link of alice
REFUSALS = {"Denied", "InvalidArgument", "LimitInvalid"}

# This program asks pinfoldd to change a limit several times. For each change, the program prints pinfoldd's answer and the contents of the job's
# io.max files.
LOOSEN = """
import json, pathlib, sys, time, dbus
key, changes, files = map(json.loads, sys.argv[1:])
manager = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
def answer(change, deadline):
    try:
        manager.SetLimits(key, {"io_read_bandwidth_max": change}, {})
    except dbus.DBusException as error:
        name = error.get_dbus_name().removeprefix("org.pinfold1.Error.")
        if name != "Busy" or time.monotonic() > deadline:
            return name
        time.sleep(1)  # after too many calls, a user has to wait for a second, and no event reports the end of the wait
        return answer(change, deadline)
print(json.dumps([(answer(change, time.monotonic() + 60), [pathlib.Path(file).read_text() for file in files]) for change in changes]))
"""

# Changes the target of the link again and again, from one disk to the other and back.
SWITCH = """
import itertools, os, sys
link, *disks = sys.argv[1:]
for number, disk in enumerate(itertools.cycle(disks)):
    os.symlink(disk, link + ".new")
    os.rename(link + ".new", link)
    if number == len(disks):
        print("switches", flush=True)
"""


def loosen(changes):
    answers = json.loads(run(*as_alice("python3", "-c", LOOSEN, *map(json.dumps, (KEY, changes, list(map(str, FILES)))))).stdout)
    assert {answer for answer, _ in answers} <= REFUSALS, answers
    assert all(contents == BEFORE for _, contents in answers), answers


@pytest.fixture(params=["refuse", "warn"])
def job(request):
    with site(f'[jobs]\nunenforced_limits = "{request.param}"\n'):
        run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity", f"--io-read-bandwidth-max={DISK} 2M")
        script = batch_script(KEY, "alice")
        yield
        run("pinfold", "end", KEY)
        finish(script)
        expect_nothing_left()


@pytest.fixture
def own_link():
    run(*as_alice("mkdir", os.path.dirname(OWN)))
    run(*as_alice("ln", "-s", DISK, OWN))
    yield
    run("rm", "-r", os.path.dirname(OWN))


@contextlib.contextmanager
def switching():
    with subprocess.Popen(as_alice("python3", "-c", SWITCH, OWN, DISK, OTHER_DISK), stdout=subprocess.PIPE, text=True) as switch:
        assert switch.stdout.readline() == "switches\n"
        yield
        switch.kill()


@pytest.mark.usefixtures("job", "own_link")
def test_24_a_second_name_of_the_disk():
    links = [str(link) for link in Path("/dev/disk").glob("*/*") if os.path.samefile(link, DISK)]
    assert links
    for name in (*links, f"/dev/block/{NUMBER}", "/dev//vda", "/dev/./vda", OWN):
        loosen([change.format(name, amount) for amount in ("infinity", "4M") for change in ("{} {}", f"{DISK} 2M, {{}} {{}}")])


@pytest.mark.usefixtures("job", "own_link")
def test_24_a_name_that_is_of_another_disk_at_first():
    """pinfoldd follows the link to a disk, and systemd then follows the link again. Before systemd follows the link, somebody can point the link to
    another disk."""
    with switching():
        loosen([f"{DISK} 2M, {name} infinity" for name in (OWN, OWN.replace("/shm", "//shm"), OWN.replace("/shm", "/./shm")) for _ in range(10)])
