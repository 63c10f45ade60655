# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a disposable PostgreSQL server with the settings of docs/examples/archive. The server has its own certificate authority."""

import contextlib
import glob
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
SITE = TOP / "docs/examples/archive"
LOGIN_HOST = "login1.example.org"
# With the settings of a real site, the test's server would need too much memory. A test needs no protection against a power cut.
OF_TESTS = """
fsync = off
shared_buffers = '32MB'
max_wal_size = '1GB'
max_connections = 100
log_min_messages = warning
"""


def programs():
    """Returns the directory of initdb. Debian has a directory for each release of PostgreSQL."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    return Path(found[-1] if found else shutil.which("initdb")).parent


def psql_command(connection, *options):
    """Returns a command line that runs psql. Debian's /usr/bin/psql is a Perl script that looks for the newest release, and then runs the psql of this
    release. The script needs more CPU time than psql needs, and the tests run psql thousands of times."""
    return [programs() / "psql", "-XAtq", *options, "-d", connection]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_end(pid):
    """Kills the process `pid`, and waits until the process has ended. `pid` can be the id of any process, and not only of a child."""
    with contextlib.suppress(ProcessLookupError):  # the process can end by itself at any moment
        descriptor = os.pidfd_open(pid)
        with os.fdopen(descriptor):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            select.select([descriptor], [], [], 60)


class Authority:
    """A certificate authority. The certificate and the key of NAME are the files NAME.crt and NAME.key in the directory."""

    def __init__(self, directory, name="ca"):
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self.certificate, self.key = directory / f"{name}.crt", directory / f"{name}.key"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650", "-subj",
                     f"/CN=test {name}", "-keyout", self.key, "-out", self.certificate)

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    def issue(self, name, file=None, days=3650):
        """Makes a certificate for `name`. A negative number of days makes a certificate that has expired. Returns the files of the certificate
        and of its key."""
        certificate, key, request = (self.directory / f"{file or name}.{kind}" for kind in ("crt", "key", "csr"))
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", key, "-out", request)
        extensions = self.directory / "extensions"
        extensions.write_text(f"subjectAltName=DNS:{name}\n")
        self.openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", max(days, 0),
                     "-extfile", extensions, "-out", certificate)
        key.chmod(0o600)
        # OpenSSL 3.5 refuses to make a certificate that has already expired. A certificate for 0 days expires at once, and this loop waits until the
        # certificate has expired.
        while days < 0 and subprocess.run(["openssl", "x509", "-checkend", "0", "-noout", "-in", certificate], capture_output=True,
                                         check=False).returncode == 0:
            pass
        return certificate, key


class PostgresServer:
    """The server starts at once. The server has the same users and the same lines in pg_hba.conf as the server of a site. Over the socket in
    `directory`, the tests can connect as the superuser postgres."""

    host = "localhost"

    def __init__(self, directory):
        self.directory, self.data, self.bin = directory, directory / "data", programs()
        self.port = free_port()
        self.authority = Authority(directory / "certificates")
        self.authority.issue(self.host, "server")
        self.authority.issue(LOGIN_HOST)
        self.user = self._unprivileged()
        if self.user:
            directory.chmod(0o755)
            os.chown(directory, self.user.pw_uid, self.user.pw_gid)
        self._run("initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth-local=trust", "--no-sync")
        self.use_certificate("server")
        self.configure()
        self.start()

    @staticmethod
    def _unprivileged():
        """PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return None
        names = {user.pw_name: user for user in pwd.getpwall()}
        return names.get("postgres") or names["nobody"]

    def _as_user(self):
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"] if self.user else []

    def _run(self, program, *words):
        subprocess.run([*self._as_user(), self.bin / program, *map(str, words)], check=True, capture_output=True, cwd="/")

    def _give(self, path):
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def use_certificate(self, file):
        """Gives the server a certificate with its key. The server uses the certificate after its next start."""
        for kind in ("crt", "key"):
            copy = self.data / f"server.{kind}"
            shutil.copyfile(self.authority.directory / f"{file}.{kind}", copy)
            copy.chmod(0o600)
            self._give(copy)
        shutil.copyfile(self.authority.certificate, self.data / "ca.crt")
        self._give(self.data / "ca.crt")

    def configure(self, more=""):
        """Writes the server's settings: first the settings of a site, then the settings of tests, and then `more`."""
        with open(self.data / "postgresql.conf", "w", encoding="utf-8") as file:
            file.write((SITE / "postgresql.conf").read_text() + OF_TESTS)
            file.write(f"listen_addresses = '{self.host}'\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\nssl_ca_file = 'ca.crt'\n")
            file.write(f"port = {self.port}\nunix_socket_directories = '{self.directory}'\n{more}\n")
        (self.data / "pg_hba.conf").write_text("local all all trust\n" + (SITE / "pg_hba.conf").read_text())
        (self.data / "pg_ident.conf").write_text((SITE / "pg_ident.conf").read_text())

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([*self._as_user(), self.bin / "postgres", "-D", self.data], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd="/")
        end = time.monotonic() + 60
        ask = [self.bin / "pg_isready", "-q", "-h", self.directory, "-p", str(self.port)]
        while subprocess.run(ask, check=False).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < end, (self.directory / "log").read_text()

    def stop(self, number=signal.SIGINT):
        """Stops the server. SIGINT ends all sessions. After SIGQUIT, the server exits at once, and does not write its data from memory to the
        disk."""
        self.process.send_signal(number)
        self.process.wait(60)

    def kill_9(self):
        """Kills the whole server, so that its next start recovers from the log. A new server starts only after all processes of the old server
        have ended."""
        # A stopped server starts no process after the function has read the list of the server's processes.
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.process.kill()
        self.process.wait(60)
        for pid in children:
            wait_for_end(int(pid))

    def psql(self, sql, *options, database="pinfold", check=True, **as_whom):
        """Runs SQL and returns what psql prints, one row on each line, with | between columns. By default, psql connects as the superuser."""
        command = psql_command(self.connection(database, **as_whom), "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *options)
        result = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        if check:
            assert result.returncode == 0, result.stderr
            return result.stdout.strip()
        return result

    @contextlib.contextmanager
    def locked(self, table, mode):
        """Holds a lock on the table until the `with` block ends."""
        with subprocess.Popen(psql_command(self.connection(), "-v", "ON_ERROR_STOP=1"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as session:
            session.stdin.write(f"SET lock_timeout = '60s'; BEGIN; LOCK TABLE {table} IN {mode} MODE; SELECT 'locked';\n")
            session.stdin.flush()
            assert session.stdout.readline() == "locked\n"
            yield

    def connection(self, database="pinfold", node=None, login=None, user=None, files=None):
        """Returns a connection string for libpq. The connection uses the certificate of `node` or `login`, or the certificate and the key in `files`.
        Without `node` and `login`, the connection uses the socket in `directory`. By default, the user of this connection is postgres."""
        if not node and not login:
            return f"host={self.directory} port={self.port} user={user or 'postgres'} dbname={database}"
        certificate, key = files or self.certificate(node or login)
        return (f"host={self.host} port={self.port} user={user or ('pinfold_node' if node else 'pinfold_reader')} dbname={database} "
                f"sslmode=verify-full sslrootcert={self.authority.certificate} sslcert={certificate} sslkey={key}")

    def certificate(self, name):
        """Returns the files with the certificate and the key of `name`. Makes the two files if they do not exist."""
        certificate, key = (self.authority.directory / f"{name}.{kind}" for kind in ("crt", "key"))
        return (certificate, key) if certificate.exists() else self.authority.issue(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGQUIT)
