# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rpm packages have the same files as the Debian packages. The scripts of the rpm packages do the same as the scripts of the Debian packages.
The rpm packages have the names that are usual on EL and openSUSE."""

import re
import stat
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import debs
import pytest
import rpms

from jobs import daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, receipts, run, start_job, units, wait_until
from test_install import etc

# DEBIAN_ONLY matches files that only Debian's own programs read.
DEBIAN_ONLY = re.compile(r"/usr/share/(doc/[^/]+/(changelog(\.Debian)?\.gz|copyright)|lintian/.*|pam-configs/pinfold)")
RPM_ONLY = re.compile(r"/usr/share/licenses/.*")
# OTHER_DIRECTORIES maps the directory of zsh's completions on Debian to the directory on EL and openSUSE.
OTHER_DIRECTORIES = {"/usr/share/zsh/vendor-completions/": "/usr/share/zsh/site-functions/"}
UNITS = ["pinfoldd.service", "pinfoldd.socket"]
# The files in THE_BOX are in the box for the tests, and no package contains the files.
THE_BOX = {"/etc/pinfold-disposable", "/usr/libexec/pinfold-tests"}
SSHD = Path("/etc/pam.d/sshd")


def files_of_deb(name):
    """Returns a dictionary that maps each expected path in the rpm package to the file's mode. If the path is a link, the value is the link's
    target. PAM modules are not executable on Debian. PAM modules in rpm packages are executable, because rpm reads the needed libraries only from
    executable files."""
    found = {}
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", debs.deb(name)], capture_output=True, timeout=120, check=True).stdout
    for member in tarfile.open(fileobj=BytesIO(data)):
        path = member.name.removeprefix(".")
        for before, after in OTHER_DIRECTORIES.items():
            path = path.replace(before, after)
        if not member.isdir() and not DEBIAN_ONLY.fullmatch(path):
            mode = 0o755 if path.endswith(".so") else member.mode
            found[path] = member.linkname if member.issym() else stat.filemode(stat.S_IFREG | mode)
    return found


def files_of_rpm(name):
    lines = rpms.query(name, "--queryformat", "[%{FILEMODES:perms} %{FILENAMES} %{FILELINKTOS}\n]").splitlines()
    rows = [line.split(" ") for line in lines]
    return {path: link or mode for mode, path, link in rows if not mode.startswith("d") and not RPM_ONLY.fullmatch(path)}


@pytest.mark.parametrize("deb", debs.NAMES)
def test_a_package_has_the_files_of_the_debian_package(deb):
    expected = files_of_deb(deb)
    assert expected and files_of_rpm(rpms.OF_DEB[deb]) == expected


@pytest.mark.parametrize("deb", debs.NAMES)
def test_a_package_has_the_version_of_the_debian_package(deb):
    assert rpms.query(rpms.OF_DEB[deb], "--queryformat", "%{VERSION}-%{RELEASE}") == debs.field(deb, "Version")


def test_the_site_keeps_its_configuration():
    assert rpms.query("pinfold", "--configfiles").split() == ["/etc/pinfold/pinfold.toml"]
    flags = rpms.query("pinfold", "--queryformat", "[%{FILENAMES} %{FILEFLAGS:fflags}\n]").splitlines()
    assert "/etc/pinfold/pinfold.toml cn" in flags  # config, noreplace


@pytest.mark.parametrize("system, needed_to_build, needed", [
    ("rhel 10", {"glibc-static", "libstdc++-static", "python3-devel"}, {"dbus", "slurm"}),
    ("suse_version 1600", {"glibc-devel-static", "python-rpm-macros"}, {"dbus-1", "slurm-plugins"})])
def test_dependencies_have_the_names_of_the_distribution(system, needed_to_build, needed):
    def names(what):
        return {line.split()[0] for line in run("rpmspec", "--query", "--define", system, what, rpms.SPEC).stdout.splitlines()}
    assert needed_to_build | {"pkgconfig(sdbus-c++)", "scdoc", "slurm-devel"} <= names("--buildrequires")
    assert needed | {"systemd", "grep"} <= names("--requires")


def test_the_plugin_needs_the_release_of_slurm_that_it_was_built_for():
    release = ".".join(run("dpkg-query", "--show", "--showformat=${Version}", "slurmd").stdout.split(".")[:2])
    assert {f"slurm >= {release}", f"slurm < {release}.99"} <= set(rpms.query("pinfold-slurm", "--requires").splitlines())


def test_the_packages_of_one_version_belong_together():
    version = rpms.query("pinfold", "--queryformat", "%{VERSION}-%{RELEASE}")
    for name in ("pam_pinfold", "pinfold-grid-engine", "pinfold-slurm", "pinfold-torque"):
        assert f"pinfold(x86-64) = {version}" in rpms.query(name, "--requires").splitlines()


def test_only_packages_with_services_and_the_module_of_pam_have_scripts():
    scripts = {name: re.findall(r"^(\w+) scriptlet", rpms.query(name, "--scripts"), re.M) for name in rpms.NAMES}
    for name in ("pinfold", "pinfold-ship", "pinfold-archive"):
        assert scripts.pop(name) == ["postinstall", "preuninstall", "postuninstall"]
    assert scripts.pop("pam_pinfold") == ["preuninstall"]
    assert set(map(tuple, scripts.values())) == {()}


def test_the_scripts_call_systemd_in_the_right_order():
    script = rpms.query("pinfold", "--scripts")
    steps = [script.index(step) for step in ("systemd-sysusers pinfold.conf", "ReloadConfig", "preset pinfoldd.service pinfoldd.socket",
                                             "disable --now pinfoldd.service pinfoldd.socket", "try-restart pinfoldd.service")]
    assert steps == sorted(steps)


def test_opensuse_gets_the_script_that_its_macros_need():
    spec = run("rpmspec", "--parse", "--define", "suse_version 1600", rpms.SPEC).stdout
    assert "%service_add_pre pinfoldd.service pinfoldd.socket" in spec
    assert "%service_add_pre" not in run("rpmspec", "--parse", "--define", "rhel 10", rpms.SPEC).stdout


def test_rpmlint_finds_nothing():
    directory = rpms.SPEC.parent
    files = [*rpms.DIRECTORY.glob("*.rpm")]
    assert len(files) == len(rpms.NAMES) + 1, "the packages and their source"
    done = run("rpmlint", "-c", directory / "rpmlint.toml", "-r", directory / "rpmlintrc", *files, check=False)
    assert done.returncode == 0 and f"{len(files)} packages and 0 specfiles checked; 0 errors, 0 warnings" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def nothing():
    """Removes all Debian packages and all rpm packages of pinfold."""
    debs.purge()
    rpms.remove_all()
    yield
    rpms.remove_all()


@pytest.fixture
def node(nothing):
    rpms.install("pinfold")
    run("systemctl", "start", *UNITS)


def waiting(key):
    """Starts a job that exits with status 3 as soon as the job's standard input is closed. finish() closes this input."""
    return start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)


def running(keys):
    wait_until(lambda: {key for key, job in live_jobs().items() if job["state"] == "running"} >= set(keys), "the jobs run")


def states(what):
    return run("systemctl", what, *UNITS, check=False).stdout.split()


def test_an_installation_changes_no_batch_system_and_no_pam(nothing):
    was = etc()
    rpms.install(*rpms.NAMES)
    now = etc()
    changed = {path for path in {*was, *now} if was.get(path) != now.get(path)}
    own = {path for path in changed if path.startswith("/etc/pinfold/") or Path(path).name.startswith(("pinfoldd.", "pinfold-strays", "pinfold-doctor", "pinfold-ship"))}
    # The installation of the packages adds groups, and adds the users of the services.
    assert changed - own <= {f"/etc/{name}{backup}" for name in ("passwd", "shadow", "group", "gshadow") for backup in ("", "-")}


def test_an_installation_makes_the_group_and_starts_nothing(nothing):
    rpms.install("pinfold")
    assert run("getent", "group", "pinfold-admin").stdout.startswith("pinfold-admin:")
    assert states("is-active") == ["inactive", "inactive"]
    run("systemctl", "start", "pinfoldd")
    assert states("is-active") == ["active", "active"]
    run("pinfold", "run", "--job", "rpm.fresh", "--", "true")
    assert [(receipt["result"], receipt["exit_status"]) for receipt in receipts("rpm.fresh")] == [("exited", 0)]


def test_no_job_is_lost_by_an_upgrade(node):
    former = main_pid()
    opened = run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout
    keys = [f"rpm.upgrade.{number}" for number in range(20)]
    live = {key: waiting(key) for key in keys}
    running(live)
    ended = {}
    with ThreadPoolExecutor(1) as executor:
        upgrade = executor.submit(rpms.install, "pinfold", "pam_pinfold", "pinfold-slurm")
        while not upgrade.done():
            short = f"rpm.short.{len(ended)}"
            ended[short] = finish(waiting(short))[0]
        upgrade.result()
    assert ended, "no job has started and ended meanwhile"
    daemon_ready(other_than=former)
    assert run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout == opened
    ended |= {key: finish(process)[0] for key, process in live.items()}
    assert ended == dict.fromkeys(ended, 3)
    found = {key: [(receipt["result"], receipt["exit_status"]) for receipt in receipts(key)] for key in ended}
    assert found == dict.fromkeys(ended, [("exited", 3)])
    expect_nothing_left()


def test_a_site_that_stopped_pinfoldd_for_good_keeps_it_so(node):
    run("systemctl", "disable", "--now", *UNITS)
    rpms.install("pinfold")
    assert (states("is-active"), states("is-enabled")) == (["inactive", "inactive"], ["disabled", "disabled"])


def test_a_removal_tells_of_live_jobs_and_leaves_them_alone(node):
    jobs = [waiting(f"rpm.remove.{number}") for number in range(2)]
    running(f"rpm.remove.{number}" for number in range(2))
    before = units()
    removed = rpms.remove("pinfold")
    told = removed.stdout + removed.stderr
    assert "Live jobs on this node: 2." in told
    assert "systemctl list-units 'batch-*.slice' 'job-*.scope'" in told
    assert states("is-active") == ["inactive", "inactive"]
    assert units() == before and [job.poll() for job in jobs] == [None, None]
    rpms.install("pinfold")
    run("systemctl", "start", *UNITS)
    assert [finish(job)[0] for job in jobs] == [3, 3]
    assert [receipt["exit_status"] for number in range(2) for receipt in receipts(f"rpm.remove.{number}")] == [3, 3]
    expect_nothing_left()


def test_a_removal_leaves_what_the_page_says(node):
    own = Path("/etc/pinfold/pinfold.toml")
    own.write_text(own.read_text() + '\n[jobs]\nkill_grace = "2s"\n')
    run("systemctl", "enable", "--now", "pinfold-strays.timer")
    removed = rpms.remove("pinfold")
    assert "Live jobs" not in removed.stdout + removed.stderr
    left = {str(path) for top in ("/etc", "/run", "/usr", "/var/lib") for path in Path(top).rglob("*pinfold*")}
    assert left - THE_BOX == {"/etc/pinfold", "/etc/pinfold/pinfold.toml.rpmsave", "/var/lib/pinfold"}
    own.with_name("pinfold.toml.rpmsave").unlink()


def test_a_module_that_pam_still_uses_is_not_removed(node):
    rpms.install("pam_pinfold")
    was = SSHD.read_text()
    SSHD.write_text(was + "account required pam_pinfold.so\n")
    try:
        refused = rpms.remove("pam_pinfold", check=False)
        assert refused.returncode != 0
        assert f"out of these files first: {SSHD}\n" in refused.stdout + refused.stderr
        assert "pam_pinfold" in rpms.installed()
    finally:
        SSHD.write_text(was)
    rpms.remove("pam_pinfold")
    assert "pam_pinfold" not in rpms.installed()
