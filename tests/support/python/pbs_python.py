# SPDX-License-Identifier: LGPL-2.1-or-later
"""pbs_python INPUT OUTPUT SCRIPT: runs a hook as MoM's program pbs_python does (src/tools/pbs_python.c, src/resmom/mom_hook_func.c).

Each event gets a new interpreter. An alarm interrupts a script that runs too long. The script runs in its own name space, in which `__name__` is
"builtins". If an exception other than SystemExit ends the script, the exit status is 254. If the alarm interrupts the script, the exit status
is 253. MoM treats the exit statuses 253 and 254 as a rejection. The input and the output of this program are JSON. The input and the output of MoM's
own program are lines NAME=VALUE."""

import json
import signal
import sys

import pbs


def load(given):
    State = pbs.State
    State.node_name, State.vnodes = given["node_name"], given.get("server_vnodes", {})
    pbs.pbs_conf.update(given["pbs_conf"])
    parameters = {"vnode_list": {name: pbs.vnode(name) for name in given["vnode_list"]}}
    if "job" in given:
        parameters["job"] = pbs.job(given["job"])
    if "job_list" in given:
        parameters["job_list"] = {values["id"]: pbs.job(values) for values in given["job_list"]}
    if "env" in given:
        parameters.update(progname=given["progname"], argv=given["argv"], env=pbs.pbs_env(given["env"]))
    if "pid" in given:
        parameters["pid"] = given["pid"]
    State.event = pbs.Event(pbs.EVENTS[given["event"]], given["hook_name"], parameters)


def run(script):
    with open(script) as text:
        code = compile(text.read(), "<embedded code object>", "exec")
    try:
        exec(code, {"__builtins__": __builtins__})
    except SystemExit:
        return 0
    except KeyboardInterrupt:
        pbs.State.accepted = False
        return 253
    except BaseException as error:
        pbs.State.accepted = False
        pbs.logmsg(pbs.EVENT_ERROR, "%s: %s" % (type(error).__name__, error))
        return 254
    return 0


def changes(parameters):
    def of(job):
        return {name: str(value) if isinstance(value, pbs.size) else value for name, value in job.resources_used.changed.items()}
    made = {"vnode_list": {name: vnode.changed for name, vnode in parameters["vnode_list"].items() if vnode.changed}}
    if "job" in parameters:
        job = parameters["job"]
        made["job"] = {"resources_used": of(job), "rerun": job._rerun, "delete": job._delete}
    if "job_list" in parameters:
        made["job_list"] = {name: of(job) for name, job in parameters["job_list"].items()}
    if "env" in parameters:
        made["env"] = dict(parameters["env"])
    return made


def main(source, target, script):
    with open(source) as text:
        given = json.load(text)
    load(given)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(given["alarm"])
    status = run(script)
    signal.alarm(0)
    with open(target, "w") as text:
        json.dump(dict(changes(pbs.State.event._param), accepted=pbs.State.accepted, message=pbs.State.message, log=pbs.State.log), text)
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
