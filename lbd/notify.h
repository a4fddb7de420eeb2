/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tell systemd how we are: one datagram to NOTIFY_SOCKET.  The protocol is a line of text, kept stable by systemd; its library
 * would bring five compression and crypto libraries into the daemon's memory.
 */
#ifndef LBD_NOTIFY_H
#define LBD_NOTIFY_H

#include <stdint.h>

/* "READY=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=1"; nothing happens without a service manager. */
void lbd_notify(const char *state);

/* How often WATCHDOG=1 is wanted at most, in ms; 0: never. */
uint64_t lbd_notify_watchdog_ms(void);

#endif
