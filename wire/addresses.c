/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses at which ranks on other hosts may reach this one. */
#include "wire/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

static void add(struct lbw_endpoint *e, const struct sockaddr *sa)
{
    const void *raw =
        sa->sa_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)(const void *)sa)->sin_addr
            : (const void *)&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;

    if (inet_ntop(sa->sa_family, raw, e->address[e->naddresses], LBW_ENDPOINT_ADDRESS_MAX))
        e->naddresses++;
}

static bool is_link_local(const struct sockaddr *sa)
{
    return sa->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

void lbw_addresses_find(struct lbw_endpoint *e)
{
    static const sa_family_t family[] = {AF_INET, AF_INET6};
    struct ifaddrs *all;

    e->naddresses = 0;
    if (getifaddrs(&all) < 0)
        all = NULL;
    for (size_t f = 0; f < 2; f++)
        for (const struct ifaddrs *i = all; i && e->naddresses < LBW_ENDPOINT_ADDRESSES_MAX - 1;
             i = i->ifa_next)
            if (i->ifa_addr && i->ifa_addr->sa_family == family[f] && (i->ifa_flags & IFF_UP) &&
                !(i->ifa_flags & IFF_LOOPBACK) && !is_link_local(i->ifa_addr))
                add(e, i->ifa_addr);
    if (all)
        freeifaddrs(all);
    strcpy(e->address[e->naddresses++], "127.0.0.1");
}
