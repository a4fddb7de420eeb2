#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scrape a page many times, as Prometheus does: scrape.py PORT TIMES [--slow N] [--every MS]

Prints key=value: median_ms, worst_ms, kib (as sent, compressed) and plain_kib, of scrapes on a connection of their own each.
--slow N: beside N clients that send half a header and then a byte now and then, and come again when they are closed.
"""
import argparse
import gzip
import socket
import statistics
import threading
import time

p = argparse.ArgumentParser()
p.add_argument('port', type=int)
p.add_argument('times', type=int)
p.add_argument('--slow', type=int, default=0)
p.add_argument('--every', type=float, default=0)
o = p.parse_args()
ASK = (b'GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n'
       b'Accept-Encoding: gzip\r\nConnection: close\r\n\r\n')


def scrape():
    began = time.perf_counter()
    page = b''
    with socket.create_connection(('127.0.0.1', o.port), timeout=30) as s:
        s.sendall(ASK)
        while got := s.recv(262144):
            page += got
    took = time.perf_counter() - began
    head, _, body = page.partition(b'\r\n\r\n')
    assert head.startswith(b'HTTP/1.1 200'), head[:100]
    return took, body, head


def be_slow():
    while True:
        try:
            with socket.create_connection(('127.0.0.1', o.port), timeout=30) as s:
                s.sendall(b'GET /metrics HTTP/1.1\r\nHost: a\r\nX-Slow: ')
                while True:
                    time.sleep(0.2)
                    s.sendall(b'a')
        except OSError:
            pass


for _ in range(o.slow):
    threading.Thread(target=be_slow, daemon=True).start()
time.sleep(1 if o.slow else 0)
times = []
for _ in range(o.times):
    took, body, head = scrape()
    times.append(took)
    time.sleep(o.every / 1000)
plain = gzip.decompress(body) if b'gzip' in head.lower() else body
assert plain.endswith(b'# EOF\n'), plain[-100:]
print(f'median_ms={1000 * statistics.median(times):.2f} worst_ms={1000 * max(times):.1f} kib={len(body) / 1024:.1f} plain_kib={len(plain) / 1024:.1f}')
