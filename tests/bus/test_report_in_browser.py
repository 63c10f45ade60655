# SPDX-License-Identifier: LGPL-2.1-or-later
"""Opens the HTML of `pinfold report` in a browser. The page sends no request, and fits into wide and narrow windows. The browser shows
texts of users as plain text."""

import shutil
import subprocess
from pathlib import Path

import dbus
import pytest

import browser as chromium
from conftest import BUILD, pidfd, wait_until
from test_report import look

EVIL = """<img src="http://127.0.0.1:9/x" onerror="document.title='evil'">'&<script>document.title='evil'</script>"""
EVIL_KEY = """user.<script>"'&<b>"""
EVIL_PROGRAM = "<img src=x>"
# HARMLESS contains all HTML elements that a report is allowed to have. Most elements of HARMLESS are in every report.
HARMLESS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "span", "b", "ul", "li", "code", "figure", "figcaption",
            "svg", "path", "line", "pre", "table", "tbody", "tr", "th", "td"}
WIDTHS = (1280, 400)
MIB = 1 << 20

pytestmark = pytest.mark.skipif(not shutil.which(chromium.PROGRAM), reason=f"install Debian's package {chromium.PROGRAM}")


@pytest.fixture
def browser(tmp_path):
    it = chromium.Browser(tmp_path / "browser")
    yield it
    it.close()


@pytest.fixture
def pictures(request, tmp_path):
    """Returns the directory for the test's pictures, so that people can look at the pictures. If the suite has a directory for results, the test
    stores its pictures in this directory."""
    results = request.config.option.xmlpath
    folder = Path(results).parent if results else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def evil_job(world, tmp_path):
    """Returns a job that is over. The job's user has chosen hostile texts wherever users can choose texts."""
    world.configure('[leftovers]\ncommand_lines = "full"\n')
    program = tmp_path / EVIL_PROGRAM
    shutil.copy("/bin/sleep", program)
    leader, task = world.process([str(program), "1000"]), world.process([str(program), "1000"])
    left = world.process(["sh", "-c", "read line", EVIL], stdin=subprocess.PIPE)
    facts = {"job_name": EVIL, "account": EVIL, "queue": EVIL, "labels": dbus.Dictionary({"evil": EVIL}, signature="ss"),
             "slots": dbus.UInt64(4), "memory_max": dbus.UInt64(256 * MIB)}
    world.create(EVIL_KEY, leader, dbus.Dictionary(facts, signature="sv"))
    assert world.manager().AddTask(EVIL_KEY, pidfd(task), dbus.Dictionary({}, signature="sv"))[0] == 1
    [job] = world.manager().ListJobs()
    for anon in (64 * MIB, 192 * MIB):
        look(world, job, anon)
    world.systemd.Move(dbus.UInt32(left.pid), f"/batch.slice/{job['slice']}/{job['unit']}")
    task.kill()
    task.wait()
    wait_until(lambda: world.manager().ListJobs()[0]["tasks"] == 1, "the end of the task")
    world.end(EVIL_KEY, leader)
    return EVIL_KEY


def report(world, file, *keys):
    subprocess.run([str(BUILD / "src/cli/pinfold"), "report", "-o", file, *keys], env=world.environment, check=True, timeout=60)
    return file


def expect_harmless(page, file):
    assert page.requests == [file.as_uri()], "the browser asks only for the page itself"
    assert set(page.elements) <= HARMLESS and page.handlers == []
    assert page.title != "evil"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_is_only_text_and_fits_into_the_window(world, evil_job, browser, pictures, tmp_path, width):
    file = report(world, tmp_path / "report.html", evil_job)
    page = browser.open(file.as_uri(), width)
    (pictures / f"report-{width}.png").write_bytes(page.picture)
    expect_harmless(page, file)
    assert page.title == f"Job {EVIL_KEY}"
    text = page.text.replace("\n", "")
    assert text.count(EVIL) >= 5, "the name, the account, the queue, a label and a command line"
    for words in (f"Job {EVIL_KEY}", f"task{EVIL_PROGRAM}", "Use over time", "limit 256M", "Tasks", f"sh -c read line {EVIL}"):
        assert words in text.replace("\t", ""), words
    assert len(page.curves) >= 2 and min(page.curves) > 10 and chromium.lines_of(page.picture) > 100
    assert all(across > width * 0.7 and down > 50 for across, down in page.pictures)
    assert page.width <= width and page.outside == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_list_of_jobs_is_only_text_and_fits_into_the_window(world, evil_job, browser, pictures, tmp_path, width):
    file = report(world, tmp_path / "list.html")
    page = browser.open(file.as_uri(), width)
    (pictures / f"list-{width}.png").write_bytes(page.picture)
    expect_harmless(page, file)
    assert page.title == "Jobs" and evil_job in page.text and chromium.lines_of(page.picture) > 50
    assert page.width <= width and page.outside == []
    assert width < 1280 or page.scrolling == 0, "a wide window shows all columns"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_site_report_is_only_text_and_fits_into_the_window(browser, pictures, width):
    file = Path(__file__).resolve().parents[1] / "unit/wording/golden/site-report.html"
    page = browser.open(file.as_uri(), width)
    (pictures / f"site-report-{width}.png").write_bytes(page.picture)
    expect_harmless(page, file)
    assert page.title == "Site report" and "CPU time by user" in page.text and chromium.lines_of(page.picture) > 100
    assert page.width <= width and page.outside == []
    assert width < 1280 or page.scrolling == 0, "a wide window shows all columns"


def test_the_browser_would_notice_a_text_that_becomes_markup(browser, tmp_path):
    file = tmp_path / "bad.html"
    file.write_text(f"<title>good</title><body>{EVIL}<p style='width: 2000px'>wide</p>")
    page = browser.open(file.as_uri(), 400)
    assert page.requests == [file.as_uri(), "http://127.0.0.1:9/x"]
    assert {"img", "script"} <= set(page.elements) and page.handlers == ["onerror"]
    assert page.title == "evil" and page.width > 400 and len(page.outside) == 1
    assert chromium.lines_of(page.picture) < 50
