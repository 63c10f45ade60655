# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits until pinfoldd knows the name of a user."""

import itertools

from jobs import finish, receipts, start_job, wait_until


def wait_for_name(user="root"):
    """When pinfoldd does not know the name of a job's owner, a thread of pinfoldd asks the user database. The job can end before the answer comes. If
    the job has ended before, the job's receipt has no name. The function runs jobs of the user until a receipt has the name. Users other than root
    need the setting jobs.allow_user_jobs."""
    numbers = itertools.count()

    def known():
        key = f"user.named.{user}.{next(numbers)}"
        status, _, err = finish(start_job(key, "true", user=user, group=user, extra_groups=[]))
        assert status == 0, err
        return receipts(key, 1)[0]["user"] == user
    wait_until(known, f"pinfoldd knows the name of {user}")
