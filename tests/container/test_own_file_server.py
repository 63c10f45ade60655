# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user waits for a file server of his own that never answers: SIGKILL does not end that, and the node is as well as it was."""

import json

from jobs import expect_nothing_left, finish, journal, live_jobs, run, site, start_job, wait_until
from own_server import alices_server, expect_the_wait, waits_for


def test_nobody_drains_the_node_by_a_file_server_of_his_own():
    with alices_server() as server, site('[unkillable]\nafter = "1s"\naction = "drain"\n'):
        job = start_job("fuse.1", *waits_for(server))
        expect_the_wait(server)
        run("pinfold", "stop", "--grace", "0", "fuse.1")
        [event] = wait_until(lambda: journal("fuse.1", "unkillable"), "the report")
        status, _, err = finish(start_job("fuse.2", "true"))
        assert (status, err) == (0, ""), "others' jobs run"
        assert live_jobs()["fuse.1"]["unkillable_in_fuse"]
        assert json.loads(run("pinfold", "status", "--json").stdout)["draining"] is False
        for told in (event["MESSAGE"], run("pinfold", "status", "fuse.1").stdout):
            assert "/sys/fs/fuse/connections/N/abort" in told, told
        server.kill()
        finish(job)
    expect_nothing_left()
