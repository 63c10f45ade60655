# SPDX-License-Identifier: LGPL-2.1-or-later

# pinfold(1) describes the exit statuses of pinfold.
NOT_RUNNING, NO_SUCH_JOB, UNREACHABLE, TIMED_OUT = 3, 4, 6, 124


class Failure(Exception):
    """Contains a text for MoM's log: an error message of pinfold, or the reason why the hook could not call pinfold."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status
        self.outage = status in (UNREACHABLE, TIMED_OUT)  # true if pinfoldd did not answer; false if pinfoldd refused the request
