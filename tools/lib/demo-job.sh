#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# This batch script starts several processes to compile a program. The script starts a daemon in a session of its own, and does not end the
# daemon.
set -eu
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

echo "job: starting a daemon, as some license and MPI helpers do"
setsid bash -c 'exec -a license-helper sleep 86400' </dev/null >/dev/null 2>&1 &

echo "job: compiling"
for part in 1 2 3 4 5 6; do
    for n in $(seq 60); do
        echo "int f${part}_$n(int x) { int s = 0; for (int i = 0; i < x; ++i) s += i * $n ^ x; return s; }"
    done >"part$part.c"
done
echo 'int f1_1(int); int main(void) { return f1_1(0); }' >main.c
cat >Makefile <<'EOF'
program: main.o part1.o part2.o part3.o part4.o part5.o part6.o
	cc -o $@ $^
EOF
make --silent -j4 CFLAGS=-O2
./program

echo "job: compiled; waiting for a line on standard input"
read -r _
echo "job: done"
