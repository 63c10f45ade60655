# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests all packages together: which files each package has, and what each package does on a node."""

import re
from pathlib import Path

import debs
import pytest

from jobs import finish, run, start_job, wait_until

LIBEXEC = "/usr/libexec/pinfold/"
ADAPTERS = {
    "pinfold-grid-engine": {"grid-engine-shepherd"},
    "pinfold-slurm": {"pinfold_spank.so", "slurm-epilogue"},
    "pinfold-torque": {"torque-prologue", "torque-epilogue", "torque-job-starter", "torque-job-starter-nologin", "torque-node-check"},
}
COMMON = [Path("/etc/pam.d") / f"common-{kind}" for kind in ("auth", "account", "password", "session", "session-noninteractive")]
SSHD = Path("/etc/pam.d/sshd")
LINE = "account required pam_pinfold.so\n"


@pytest.fixture(scope="module", autouse=True)
def all_installed():
    # The box's PAM files lack pam_systemd. Without --disable, pam-auth-update would regard the profile of pam_systemd as new, and would enable
    # the profile.
    run("pam-auth-update", "--disable", "systemd")
    debs.install(*debs.NAMES)
    assert set(debs.installed()) == set(debs.NAMES)


@pytest.mark.parametrize("name", ADAPTERS)
def test_what_connects_a_batch_system_is_in_its_own_package(name):
    programs = {path for path in debs.contents(name) if not path.startswith("/usr/share/")}
    assert programs == {LIBEXEC + program for program in ADAPTERS[name]}


def test_the_hook_of_openpbs_is_in_its_own_package():
    paths = {path for path in debs.contents("pinfold-openpbs") if not path.startswith("/usr/share/")}
    assert LIBEXEC + "openpbs/pinfold_hook.py" in paths
    assert {path for path in paths if not path.startswith(LIBEXEC + "openpbs/")} == set()


def test_what_manages_the_archive_is_in_its_own_package():
    paths = debs.contents("pinfold-archive")
    assert {LIBEXEC + "archive-admin", "/usr/share/pinfold/archive/0001.sql"} <= paths
    assert not any(path.startswith("/usr/bin/") for path in paths)
    # The exit status 6 says that archive-admin has tried to connect, but no server listens on this host.
    refused = run("pinfold", "archive", "status", check=False)
    assert refused.returncode == 6 and "check that PostgreSQL runs on this host" in refused.stderr


def test_what_sends_receipts_is_in_its_own_package():
    paths = {path for path in debs.contents("pinfold-ship") if not path.startswith("/usr/share/")}
    assert {Path(path).name for path in paths} == {"pinfold-ship", "pinfold-ship.service", "pinfold-ship.conf"}
    assert "pinfold-ship" in run("getent", "group", "pinfold-audit").stdout, "it may read the receipts of all users"
    assert run("systemctl", "is-enabled", "pinfold-ship").stdout.strip() == "enabled"


def test_a_node_without_an_archive_sends_nothing():
    # The package starts pinfold-ship, and pinfold-ship ends by itself.
    wait_until(lambda: run("systemctl", "show", "-P", "ActiveState", "pinfold-ship").stdout == "inactive\n", "the end of pinfold-ship")
    shown = run("systemctl", "show", "--property=Result,ExecMainStatus", "pinfold-ship").stdout.split()
    assert shown == ["Result=success", "ExecMainStatus=0"]


CERTIFICATE = """[archive]
server = "localhost"
port = 1
certificate = "/etc/pinfold/node.crt"
"""


@pytest.fixture
def archive_that_is_away():
    file = Path("/etc/pinfold/pinfold.toml.d/archive.toml")
    file.write_text(CERTIFICATE)
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node1", "-keyout", "/etc/pinfold/node.key", "-out",
        "/etc/pinfold/node.crt")
    run("systemctl", "restart", "pinfold-ship")
    yield
    for path in (file, Path("/etc/pinfold/node.crt"), Path("/etc/pinfold/node.key")):
        path.unlink()
    run("systemctl", "restart", "pinfold-ship")


def test_pinfold_ship_reads_receipts_in_its_sandbox(archive_that_is_away):
    """pinfold-ship cannot reach the archive. pinfold-ship reads the receipts and says how many receipts it would send."""
    finish(start_job("package.ship", "true"))
    status = wait_until(lambda: next((text for text in [run("systemctl", "show", "--property=StatusText", "--value", "pinfold-ship").stdout]
                                      if "to send; the archive does not take receipts" in text), None), "the receipt of another user")
    assert "receipt" in status and run("systemctl", "is-active", "pinfold-ship").stdout.strip() == "active"


def test_lintian_finds_nothing():
    done = run("lintian", "--allow-root", "--fail-on=error,warning", "--no-tag-display-limit", *map(debs.deb, debs.NAMES), check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_in_two_packages():
    paths = [path for name in debs.NAMES for path in debs.contents(name)]
    assert sorted({path for path in paths if paths.count(path) > 1}) == []


def test_the_pages_are_there_under_the_names_by_which_they_link_to_each_other():
    paths = debs.contents("pinfold-doc")
    assert {"/usr/share/doc/pinfold/README.md", "/usr/share/doc/pinfold/architecture.md", "/usr/share/doc/pinfold/schedulers/slurm.md",
            "/usr/share/doc/pinfold/ansible/pinfold.yml", "/usr/share/doc/pinfold/ansible/grid-engine/connect.yml",
            "/usr/share/doc/pinfold/monitoring/alerts.yml", "/usr/share/doc/pinfold/monitoring/dashboard.json",
            "/usr/share/doc/pinfold/examples/pinfold.toml", "/usr/share/doc/pinfold/examples/write-your-own/scheduler.cpp"} <= paths


def test_systemd_finds_no_fault_in_the_units():
    kinds = (".service", ".slice", ".socket", ".timer")
    units = sorted(path for name in debs.NAMES for path in debs.contents(name) if "/systemd/system/" in path and path.endswith(kinds))
    assert len(units) == 13
    assert run("systemd-analyze", "verify", "--man=no", *units).stderr == ""
    pages = {page for path in units for page in re.findall(r"man:((?:pinfold|org\.pinfold)[^ (]*)\((\d)\)", Path(path).read_text())}
    installed = {path for name in debs.NAMES for path in debs.contents(name)}
    assert pages and {f"/usr/share/man/man{section}/{page}.{section}.gz" for page, section in pages} <= installed


def test_the_plugin_needs_the_release_of_slurm_that_it_was_built_for():
    release = ".".join(run("dpkg-query", "--show", "--showformat=${Version}", "slurmd").stdout.split(".")[:2])
    depends = debs.field("pinfold-slurm", "Depends").split(", ")
    assert {f"slurm-wlm-basic-plugins (>= {release})", f"slurm-wlm-basic-plugins (<< {release}.99~)"} <= set(depends)


def test_dpkg_finds_every_file_as_it_was_packaged():
    assert debs.dpkg("--verify", *debs.NAMES).stdout == ""


def test_the_smoke_test_of_the_packages():
    run("/payload/debian/tests/smoke", cwd="/payload", timeout=600)


@pytest.fixture
def switched_on():
    was = [path.read_text() for path in COMMON]
    assert "pam_pinfold" not in "".join(was)
    run("pam-auth-update", "--enable", "pinfold")
    yield
    run("pam-auth-update", "--disable", "pinfold")
    assert [path.read_text() for path in COMMON] == was


def may_log_in(service, user):
    done = run("pamtester", service, user, "acct_mgmt", check=False)
    return done.returncode == 0


def test_the_profile_of_pam_is_about_sshd_alone(switched_on):
    assert may_log_in("sshd", "root")
    assert not may_log_in("sshd", "alice")
    assert may_log_in("su", "alice")
    run("pinfold", "open", "pbs.1", "--uid", "alice")
    assert may_log_in("sshd", "alice")
    run("pinfold", "end", "pbs.1")
    assert not may_log_in("sshd", "alice")


def test_the_profile_of_pam_puts_logins_into_the_job_after_logind_has_seen_them(switched_on):
    run("pam-auth-update", "--enable", "systemd")
    try:
        session = COMMON[3].read_text()
        assert 0 < session.index("pam_systemd.so") < session.index("pam_pinfold.so")
        assert "pam_pinfold" not in COMMON[4].read_text()
    finally:
        run("pam-auth-update", "--disable", "systemd")


def test_the_removal_of_the_module_switches_its_profile_off():
    was = [path.read_text() for path in COMMON]
    run("pam-auth-update", "--enable", "pinfold")
    debs.dpkg("--remove", "libpam-pinfold")
    assert [path.read_text() for path in COMMON] == was
    debs.install("libpam-pinfold")


def test_a_module_that_pam_still_uses_is_not_removed():
    was = SSHD.read_text()
    SSHD.write_text(was + LINE)
    try:
        refused = debs.dpkg("--remove", "libpam-pinfold", check=False)
        assert refused.returncode != 0
        assert f"out of these files first: {SSHD}\n" in refused.stderr
        assert "libpam-pinfold" in debs.installed()
    finally:
        SSHD.write_text(was)
