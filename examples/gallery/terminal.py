#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command prints on a terminal of so many columns: terminal.py COLUMNS COMMAND...  (0: into a pipe)

Exit code 1 when a line is wider, or the command failed."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios


def on_terminal(columns, command):
    pid, fd = pty.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # progress is not part of the screen
        os.environ["TERM"] = "xterm"
        os.environ["NO_COLOR"] = "1"
        os.environ.pop("COLUMNS", None)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execvp(command[0], command)
    text = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the terminal's end
            break
        if not piece:
            break
        text += piece
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.replace(b"\r\n", b"\n").decode()


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    if columns:
        code, text = on_terminal(columns, command)
    else:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        code, text = done.returncode, done.stdout.decode()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    sys.stdout.write(text)
    wide = [line for line in text.splitlines() if columns and len(line) > columns]
    for line in wide:
        print(f"{len(line)} columns of {columns}: {' '.join(command)}: {line}", file=sys.stderr)
    return 1 if wide or code else 0


sys.exit(main())
