#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a program in a terminal of its own and do as a script says.  terminal.py SCRIPT CMD...

A line of the script: expect REGEX (on the screen, awaited), absent REGEX (awaited, too), send TEXT (Python escapes), size ROWS COLUMNS, status N,
run CMD (a shell's), colour N REGEX (a line of that text in the terminal's colour N, awaited), plain N REGEX (no such line is, now).  TERM is LB_TERM, else vt100.
The screen is what a terminal would show: the little of it that curses uses with TERM=vt100 or xterm-256color.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

LIMIT_S = 30


class Screen:
    def __init__(self, rows, columns):
        self.rest = b''
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns, self.y, self.x = rows, columns, 0, 0
        self.cell = [[' '] * columns for _ in range(rows)]
        self.fg = [[None] * columns for _ in range(rows)]
        self.colour, self.last = None, ' '

    def coloured(self, colour, regex):
        return any(re.search(regex, ''.join(c if f == colour else ' ' for c, f in zip(*line))) for line in zip(self.cell, self.fg))

    def text(self):
        return '\n'.join(''.join(row).rstrip() for row in self.cell)

    def put(self, data):
        data = self.rest + data
        i = 0
        while i < len(data):
            m = re.match(rb'\x1b(?:\[([0-9;?]*)([@-~])|[()][AB0]|[=>78M])', data[i:])
            if data[i] == 0x1b and not m:
                if len(data) - i < 12:
                    break
                i += 1
                continue
            if m:
                if m[2]:
                    self.control(m[1].decode(), m[2].decode())
                i += m.end()
                continue
            c = chr(data[i])
            i += 1
            if c == '\r':
                self.x = 0
            elif c == '\n':
                self.down()
            elif c == '\b':
                self.x = max(0, self.x - 1)
            elif c >= ' ':
                self.write(c)
        self.rest = data[i:]

    def write(self, c):
        if self.x < self.columns:
            self.cell[self.y][self.x], self.fg[self.y][self.x] = c, self.colour
        self.x += 1
        self.last = c

    def down(self):
        if self.y + 1 < self.rows:
            self.y += 1
        else:
            self.cell = self.cell[1:] + [[' '] * self.columns]
            self.fg = self.fg[1:] + [[None] * self.columns]

    def control(self, args, what):
        n = [int(a) if a.isdigit() else 0 for a in args.split(';')]
        if what == 'H':
            self.y = min(self.rows, max(1, n[0])) - 1
            self.x = max(1, n[1] if len(n) > 1 else 1) - 1
        elif what == 'J':
            if n[0] == 2:
                self.cell = [[' '] * self.columns for _ in range(self.rows)]
            else:
                self.control('', 'K')
                for y in range(self.y + 1, self.rows):
                    self.cell[y] = [' '] * self.columns
        elif what == 'K':
            begin, end = ((self.x, self.columns), (0, self.x + 1), (0, self.columns))[n[0]]
            for x in range(begin, min(end, self.columns)):
                self.cell[self.y][x] = ' '
        elif what == 'd':
            self.y = min(self.rows, max(1, n[0])) - 1
        elif what == 'G':
            self.x = max(1, n[0]) - 1
        elif what == 'X':
            for x in range(self.x, min(self.x + max(1, n[0]), self.columns)):
                self.cell[self.y][x] = ' '
        elif what == 'b':
            for _ in range(max(1, n[0])):
                self.write(self.last)
        elif what == 'm':
            for i, code in enumerate(n):
                if code in (0, 39):
                    self.colour = None
                elif 30 <= code <= 37:
                    self.colour = code - 30
                elif code == 38 and n[i + 1:i + 2] == [5]:
                    self.colour = n[i + 2]
                    break
        elif what in 'ABCD':
            by = max(1, n[0])
            self.y = max(0, min(self.rows - 1, self.y + {'A': -by, 'B': by}.get(what, 0)))
            self.x = max(0, self.x + {'C': by, 'D': -by}.get(what, 0))


def main():
    screen = Screen(24, 100)
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM=os.environ.get('LB_TERM', 'vt100'), LC_ALL='C.UTF-8')
        for name in ('LINES', 'COLUMNS'):
            os.environ.pop(name, None)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    over = [None]

    def look(until):
        while True:
            if until():
                return True
            if over[0] is not None or time.monotonic() > limit:
                return False
            if not select.select([fd], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b''
            if data:
                screen.put(data)
            else:
                over[0] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    try:
        for line in open(sys.argv[1], encoding='utf-8'):
            word, _, rest = line.strip().partition(' ')
            limit = time.monotonic() + LIMIT_S
            good = True
            if word == 'expect':
                good = look(lambda: re.search(rest, screen.text(), re.M))
            elif word == 'absent':
                good = look(lambda: not re.search(rest, screen.text(), re.M))
            elif word == 'colour':
                number, _, regex = rest.partition(' ')
                good = look(lambda: screen.coloured(int(number), regex))
            elif word == 'plain':
                number, _, regex = rest.partition(' ')
                good = not screen.coloured(int(number), regex)
            elif word == 'run':
                good = subprocess.run(rest, shell=True, stdout=subprocess.DEVNULL, check=False).returncode == 0
            elif word == 'send':
                os.write(fd, rest.encode().decode('unicode_escape').encode())
            elif word == 'size':
                rows, columns = map(int, rest.split())
                screen.resize(rows, columns)
                fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            elif word == 'status':
                look(lambda: over[0] is not None)
                good = over[0] == int(rest)
            elif word and not word.startswith('#'):
                sys.exit(f'{line!r} is not understood')
            if not good:
                print(f'failed: {line.strip()}; status {over[0]}; the screen:\n{screen.text()}')
                return 1
    finally:
        if over[0] is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return 0


sys.exit(main())
