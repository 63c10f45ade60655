# SPDX-License-Identifier: LGPL-2.1-or-later
"""What qmgr imports as the hook pinfold; docs/schedulers/openpbs.md says how.

MoM runs it as root, in a fresh interpreter for each event. What it does is in the package that is installed with pinfold on the node, so
that hook and pinfoldd are of one version there, and an upgrade needs no qmgr.
"""

import sys

import pbs


def without_pinfold(event, error):
    """pinfold is not installed here: no job starts, and nothing else is held up."""
    pbs.logmsg(pbs.EVENT_ERROR, "pinfold: its part for OpenPBS is not installed on this host: %s" % error)
    if event.type in (pbs.EXECJOB_BEGIN, pbs.EXECJOB_LAUNCH):
        event.job.rerun()
        event.reject("pinfold is not installed on this host")
    event.accept()


if __name__ == "builtins":  # the name of a hook's name space
    sys.dont_write_bytecode = True
    sys.path.insert(0, "@libexecdir@/pinfold/openpbs")
    try:
        from pinfold_openpbs import events
    except ImportError as missing:
        without_pinfold(pbs.event(), missing)
    events.handle(pbs.event())
