/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses at which ranks on other hosts may reach this one. */
#ifndef LBW_ADDRESSES_H
#define LBW_ADDRESSES_H

#include "wire/endpoint.h"

/*
 * Fill the endpoint's addresses: those of the interfaces that are up, IPv4 before IPv6, link-local ones left out, loopback
 * last so that a machine without a network can still be balanced.  Never fails: there may be none.
 */
void lbw_addresses_find(struct lbw_endpoint *e);

#endif
