# SPDX-License-Identifier: LGPL-2.1-or-later

# Exit statuses of pinfold(1).
NOT_RUNNING, NO_SUCH_JOB, UNREACHABLE, TIMED_OUT = 3, 4, 6, 124


class Failure(Exception):
    """What pinfold said, or why it was not asked, for MoM's log."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status
        self.outage = status in (UNREACHABLE, TIMED_OUT)  # nobody refused: pinfoldd did not answer
