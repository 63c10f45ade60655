# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records how a batch system calls programs and hooks for a job. The tests in tests/real record the calls of a real batch system and the calls of a
stand-in. The tests compare these two records. The two records must contain the same calls, in the same order, with the same exit statuses.

`recorder.py FILE NAME PROGRAM [ARGUMENTS...]` adds a line to FILE about this call of PROGRAM, and then executes PROGRAM."""

import difflib
import json
import os
import pwd
import shutil
import sys
from pathlib import Path

COPY = "/usr/local/lib/recorder.py"
EXIT_STATUS = 9  # the number of the argument in which Torque's epilogue gets the job's exit status

# SCRIPT is a shell script that calls recorder.py with these arguments: the file, the name of the program, the program, and the program's arguments.
SCRIPT = "#!/bin/sh\nexec /usr/bin/python3 {recorder} {file} {name} {program} \"$@\"\n"

# For each event of a job, this hook of OpenPBS adds a line to a file. The hook does not change what MoM does.
HOOK = """import json
import os
import pbs
EVENTS = {{pbs.EXECJOB_BEGIN: "begin", pbs.EXECJOB_LAUNCH: "launch", pbs.EXECJOB_EPILOGUE: "epilogue", pbs.EXECJOB_END: "end"}}
event = pbs.event()
call = {{"event": EVENTS[event.type], "user": os.getuid(), "mother superior": bool(event.job.in_ms_mom())}}
if event.type == pbs.EXECJOB_LAUNCH:
    call.update({{"program": str(event.progname), "arguments": len(event.argv), "PBS_TASKNUM": event.env["PBS_TASKNUM"]}})
else:
    call["Exit_status"] = None if event.job.Exit_status is None else int(event.job.Exit_status)
with open("{file}", "a") as record:
    record.write(json.dumps(call) + "\\n")
"""


def empty(file):
    """Makes an empty file for a record. The programs of all users can add lines to the file."""
    Path(file).write_text("")
    os.chmod(file, 0o666)


def script(file, name, program):
    """Returns a script that records its call, and then executes the program. The script executes a copy of the recorder, because a job's user cannot
    read the original file."""
    shutil.copyfile(__file__, COPY)
    os.chmod(COPY, 0o644)
    return SCRIPT.format(recorder=COPY, file=file, name=name, program=program)


def calls(file):
    return Path(file).read_text().splitlines()


def differences(job, real, stand_in):
    """Returns the lines that say what differs between two records of the same job."""
    return list(difflib.unified_diff(real, stand_in, f"real: {job}", f"stand-in: {job}", lineterm="", n=max(len(real), len(stand_in))))


def of_the_batch_system(variable):
    """The user who submits the job sets the variables PBS_O_…."""
    return variable.startswith("PBS_") and not variable.startswith("PBS_O_")


def call(name, arguments):
    status = arguments[EXIT_STATUS] if name == "epilogue" and len(arguments) > EXIT_STATUS else None
    return {"program": name, "arguments": len(arguments), "exit status": status, "user": pwd.getpwuid(os.getuid()).pw_name,
            "leads a session": os.getsid(0) == os.getpid(), "variables": sorted(filter(of_the_batch_system, os.environ))}


def main(file, name, program, *arguments):
    record = os.open(file, os.O_WRONLY | os.O_APPEND)  # with O_CREAT, users could not write to root's file in /tmp (fs.protected_regular)
    os.write(record, json.dumps(call(name, arguments)).encode() + b"\n")
    os.close(record)
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
