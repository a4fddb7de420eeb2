#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ports of a network namespace on this machine's loopback: forward.py NAMESPACE PORT=ADDRESS:PORT...

Listens on 127.0.0.1:PORT outside (0: a free one; the real ones are printed, a line each), connects from inside of the namespace.
"""
import ctypes
import selectors
import socket
import sys
import threading

listening = []
for text in sys.argv[2:]:
    port, _, to = text.partition('=')
    address, _, at = to.rpartition(':')
    s = socket.create_server(('127.0.0.1', int(port)))
    listening.append((s, (address, int(at))))
    print(s.getsockname()[1], flush=True)

# Sockets made from here on are inside; those that listen stay where they were made.
libc = ctypes.CDLL(None, use_errno=True)
with open(f'/run/netns/{sys.argv[1]}', 'rb') as f:
    if libc.setns(f.fileno(), 0x40000000) != 0:
        sys.exit(f'{sys.argv[1]}: errno {ctypes.get_errno()}')


def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for s, how in ((b, socket.SHUT_WR), (a, socket.SHUT_RD)):
        try:
            s.shutdown(how)
        except OSError:
            pass


def serve(client, to):
    try:
        inside = socket.create_connection(to, timeout=10)
        inside.settimeout(None)
    except OSError:
        client.close()
        return
    with client, inside:
        back = threading.Thread(target=pump, args=(inside, client), daemon=True)
        back.start()
        pump(client, inside)
        back.join()


# New threads are in the namespace of the one that starts them.
selector = selectors.DefaultSelector()
for s, to in listening:
    selector.register(s, selectors.EVENT_READ, to)
while True:
    for key, _ in selector.select():
        client, _ = key.fileobj.accept()
        threading.Thread(target=serve, args=(client, key.data), daemon=True).start()
