# SPDX-License-Identifier: LGPL-2.1-or-later
"""An administrator uses qmgr to import this file into a hook with the name pinfold (docs/schedulers/openpbs.md).

MoM runs the hook as root, in a new interpreter for each event. The hook's code is in a Python package that is installed together with
pinfold on each node. On each node, the hook's code and pinfoldd always have the same version. After an upgrade of pinfold, nobody has to
import the hook again.
"""

import sys

import pbs


def without_pinfold(event, error):
    """Handles an event on a host on which pinfold is not installed. Rejects the events that start a job, and accepts all other events."""
    pbs.logmsg(pbs.EVENT_ERROR, "pinfold: its part for OpenPBS is not installed on this host: %s" % error)
    if event.type in (pbs.EXECJOB_BEGIN, pbs.EXECJOB_LAUNCH):
        event.job.rerun()
        event.reject("pinfold is not installed on this host")
    event.accept()


if __name__ == "builtins":  # PBS runs a hook with the value "builtins" of __name__
    sys.dont_write_bytecode = True
    sys.path.insert(0, "@libexecdir@/pinfold/openpbs")
    try:
        from pinfold_openpbs import events
    except ImportError as missing:
        without_pinfold(pbs.event(), missing)
    events.handle(pbs.event())
