# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus scrapes a real node_exporter. The node_exporter reads the metrics file of a real pinfoldd. The other programs of pinfold do not
run, so the node_exporter reads examples of their metrics from the tests' golden files. The tests take the PromQL expressions from the alerts, the
dashboard and docs/monitoring.md, and check that each PromQL expression finds series in Prometheus."""

import json
import os
import pwd
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import dbus
import pytest

from conftest import new_world, wait_until

TOP = Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
GOLDEN = TOP / "tests/unit/cli/golden"
DASHBOARD = json.loads((DOCS / "monitoring/dashboard.json").read_text())
PAGE = (DOCS / "monitoring.md").read_text()
MIB = 1 << 20
# If per_job is false, the figures in the metrics file are at most 2 s old.
CONFIG = ('[metrics]\ntextfile = "/metrics/pinfold.prom"\nper_job = {per_job}\n[unkillable]\nafter = "1s"\naction = "drain"\n'
          '[gpus]\ndevices = ["/dev/null"]\n[archive]\nserver = "localhost"\n')
PROMETHEUS = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ['{rules}']
scrape_configs: [{{job_name: node, static_configs: [{{targets: ['{node}']}}]}}]
"""

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("prometheus", "prometheus-node-exporter"))),
                                reason="install Debian's packages prometheus and prometheus-node-exporter")


class Site:
    """Runs node_exporter and Prometheus. node_exporter and Prometheus read the metrics of the pinfoldd that `world` contains."""

    def __init__(self, world):
        self.world, self.file = world, world.root / "metrics/pinfold.prom"
        self.file.parent.mkdir()
        node = self.serve("prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                          f"--collector.textfile.directory={self.file.parent}")
        config = world.directory / "prometheus.yml"
        config.write_text(PROMETHEUS.format(rules=DOCS / "monitoring/alerts.yml", node=node))
        self.address = self.serve("prometheus", f"--config.file={config}", f"--storage.tsdb.path={world.directory}/tsdb")

    def serve(self, program, *options):
        """Starts the program on a free port. Returns the program's address, which the function finds in the program's log."""
        log = self.world.directory / f"{program}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen([program, "--web.listen-address=127.0.0.1:0", *options], stderr=output, env={**os.environ, "GOMAXPROCS": "1"})
        self.world.processes.append(process)

        def address():
            assert process.poll() is None, log.read_text()
            return re.search(r'msg="Listening on".* address=(127\.0\.0\.1:\d+)', log.read_text())

        return wait_until(address, f"{program} listens")[1]

    def ask(self, path, **parameters):
        try:
            with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # Prometheus is still starting
                return {"result": [], "groups": []}
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def series(self, expression):
        return self.ask("query", query=expression)["result"]

    def states(self):
        """Returns the state of each alert: inactive, pending or firing."""
        rules = [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]
        assert [rule["lastError"] for rule in rules if rule.get("lastError")] == []
        return {rule["name"]: rule["state"] for rule in rules if rule["health"] == "ok"}

    def alarms(self):
        return {alert: state for alert, state in self.states().items() if state != "inactive"}

    def configure(self, per_job=False):
        """As soon as pinfoldd has read its configuration, it writes its metrics file."""
        self.world.configure(CONFIG.format(per_job=str(per_job).lower()))


def options(**limits):
    return dbus.Dictionary({name: dbus.UInt64(value) for name, value in limits.items()}, signature="sv")


@pytest.fixture(scope="module")
def site():
    with new_world() as world:
        site = Site(world)
        site.configure()
        wait_until(lambda: site.series("pinfold_jobs == 0"), "the figures of an idle node")
        wait_until(lambda: len(site.states()) > 15, "the rules")
        yield site


def has_data(site, expression):
    """Waits until the expression has a result. Some expressions have a result only after a second scrape, or after pinfoldd has written its metrics
    file again."""
    return wait_until(lambda: site.series(expression), expression)


def test_the_alerts_are_those_of_what_happens(site):
    world = site.world
    # If node_exporter needs more than a second on a busy machine, Prometheus has no metrics of pinfold for a moment.
    wait_until(lambda: site.alarms() == {}, "no alert on an idle node")
    stuck = world.process()
    world.create("bus.stuck", stuck)
    world.systemd.Hang(dbus.UInt32(stuck.pid))
    world.manager().StopJob("bus.stuck", dbus.Dictionary({"grace": dbus.UInt64(0)}, signature="sv"))
    expected = {"PinfoldJobUnkillable": "pending", "PinfoldNodeDrainedAutomatically": "pending", "PinfoldNodeDrainedForDays": "pending"}
    wait_until(lambda: site.alarms() == expected, "alerts about the job that cannot be killed")
    world.end("bus.stuck", stuck)
    wait_until(lambda: site.alarms() == {}, "no alert when the job is over")

    world.stop_daemon()
    wait_until(lambda: site.alarms() == {"PinfoldMetricsMissing": "pending"}, "the alert about pinfoldd that does not run")
    world.daemon = world.start_daemon()
    wait_until(lambda: site.alarms() == {}, "no alert when pinfoldd runs again")

    def alarms_about_an_old_file():
        os.utime(site.file, (0, 0))  # pinfoldd rewrites the file from time to time, so each call gives the file an old time stamp
        return site.alarms()

    wait_until(lambda: alarms_about_an_old_file() == {"PinfoldMetricsOld": "pending"}, "the alert about the file that is old")
    site.configure()
    wait_until(lambda: site.alarms() == {}, "no alert when the file is new")


@pytest.fixture(scope="module")
def reports(site):
    """Puts a metrics file of `pinfold doctor` and a metrics file of `pinfold strays` on the node. Each of the two files contains the result of a
    failed check."""
    for kind in ("doctor", "strays"):
        shutil.copy(GOLDEN / f"{kind}.prom", site.file.with_name(f"pinfold-{kind}.prom"))
    return site


def test_an_alert_tells_of_the_check_that_fails(reports):
    wait_until(lambda: reports.alarms() == {"PinfoldDoctorFails": "pending"}, "the alert about the check")
    [alert] = has_data(reports, 'ALERTS{alertname="PinfoldDoctorFails"}')
    assert alert["metric"]["check"] == "cgroup.controllers"


def test_an_alert_tells_of_a_report_that_is_old(reports):
    file = reports.file.with_name("pinfold-strays.prom")
    os.utime(file, (0, 0))
    wait_until(lambda: reports.alarms().get("PinfoldReportOld") == "pending", "the alert about the file that is old")
    os.utime(file)
    wait_until(lambda: "PinfoldReportOld" not in reports.alarms(), "no alert when the file is new")


@pytest.fixture(scope="module")
def shipping(reports):
    """Puts a metrics file of pinfold-ship on the node. The file says that pinfold-ship could not reach the archive at its last try."""
    shutil.copy(TOP / "tests/unit/ship/golden/ship.prom", reports.file.with_name("pinfold-ship.prom"))
    return reports


def test_each_alert_asks_for_series_that_exist(shipping):
    site = shipping
    for group in site.ask("rules")["groups"]:
        for rule in group["rules"]:
            selectors = re.findall(r"\b(?:(?:pinfold|node)_\w+|up)\b(?:\{[^}]*\})?", rule["query"])
            assert selectors, rule["query"]
            for selector in selectors:
                has_data(site, selector)


@pytest.fixture
def busy(shipping):
    """The node's metrics file has figures of a live job, and an alert fires."""
    site = shipping
    world = site.world
    with pytest.raises(dbus.DBusException):
        world.configure("[metrics]\nper_job = 3\n")
    process = world.process()
    world.create("slurm.4711", process, options(memory_max=64 * MIB))
    slice_ = world.root / "sys/fs/cgroup/batch.slice/batch-slurm.4711.slice"
    for name, text in {"memory.current": f"{32 * MIB}\n", "memory.stat": f"anon {16 * MIB}\nfile {16 * MIB}\nshmem {4 * MIB}\n", "memory.swap.current": "4096\n",
                       "memory.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", "memory.events": "oom 0\noom_kill 0\n",
                       "cpu.stat": "usage_usec 12\nuser_usec 7\nsystem_usec 5\nthrottled_usec 2\n"}.items():
        (slice_ / name).write_text(text)
    site.configure(per_job=True)
    has_data(site, 'cgroup_info{jobid="slurm.4711"}')
    yield site
    world.end("slurm.4711", process)
    site.configure()


def test_each_panel_has_data(busy):
    has_data(busy, 'ALERTS{alertname="PinfoldConfigurationRejected", alertstate="firing"}')
    [node] = [variable for variable in DASHBOARD["templating"]["list"] if variable["name"] == "node"]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", node["definition"]).groups()
    values = {"$node": has_data(busy, metric)[0]["metric"][label], "$__rate_interval": "20s", "$__range": "1h"}
    asked = 0
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            expression = re.sub(r"\$\w+", lambda name: values[name[0]], target["expr"])
            for result in has_data(busy, expression):
                assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= set(result["metric"]), "the legend names labels that exist"
            asked += 1
    assert asked > 25


def test_the_expressions_of_the_page_find_series(busy):
    replaced, joined = [], []
    for expression in re.findall(r"^ *```promql\n(.*?)^ *```$", PAGE, re.M | re.S):
        if "label_replace" in expression:
            replaced = has_data(busy, expression)
        elif "username" in expression:
            busy.configure(per_job=True)  # when pinfoldd last wrote the file, it perhaps did not know the name of the job's owner yet
            joined = wait_until(lambda asked=expression: [found for found in busy.series(asked) if "username" in found["metric"]], expression)
        else:
            # The page's expression finds nodes without pinfold. All nodes of this test have pinfold, so the page's expression finds nothing. With a
            # different metric in place of pinfold_jobs, the expression finds the nodes.
            assert busy.series(expression.replace("node.*", ".*")) == []
            assert has_data(busy, expression.replace("node.*", ".*").replace("pinfold_jobs", "no_such_metric"))
    assert [series["metric"]["id"] for series in replaced] == ["4711"]
    assert [(series["metric"]["username"], series["metric"]["jobid"]) for series in joined] == [(pwd.getpwuid(os.getuid()).pw_name, "slurm.4711")]
