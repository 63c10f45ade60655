# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contains the history's tables as pinfold made them before schema 2."""

OLD_SCHEMA = """
CREATE TABLE receipts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, uid INTEGER NOT NULL,
 ended INTEGER NOT NULL, receipt TEXT NOT NULL);
CREATE INDEX by_ended ON receipts (ended);
CREATE INDEX by_key ON receipts (key, ended);
CREATE INDEX by_uid ON receipts (uid, ended);
PRAGMA user_version = 1;
"""
