/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at a node's credential and address. */
#include "lbd/controller/prove.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "lbd/munge.h"

#define PAYLOAD_BYTES 1024

/* Any address as IPv6, IPv4 as its mapped form. */
static bool to_v6(const struct sockaddr *sa, struct in6_addr *ret)
{
    if (sa->sa_family == AF_INET6) {
        *ret = ((const struct sockaddr_in6 *)sa)->sin6_addr;
        return true;
    }
    if (sa->sa_family != AF_INET)
        return false;
    memset(ret, 0, sizeof(*ret));
    ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
    memcpy(ret->s6_addr + 12, &((const struct sockaddr_in *)sa)->sin_addr, 4);
    return true;
}

static bool is_loopback(const struct in6_addr *a)
{
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

/* A peer on loopback is on this machine, whose root has the MUNGE key and could take any address. */
static int check_address(struct lbd_prove *p)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    struct in6_addr peer, a;
    bool found = false;
    int rc;

    if (!p->verify_address)
        return 0;
    if (!to_v6((struct sockaddr *)&p->peer, &peer))
        return lbx_error_set(&p->err, -EADDRNOTAVAIL, "no internet address");
    if (is_loopback(&peer))
        return 0;
    rc = getaddrinfo(p->proof.host, NULL, &hints, &list);
    if (rc != 0)
        return lbx_error_set(&p->err, -EADDRNOTAVAIL, "host %s has no address: %s", p->proof.host,
                             gai_strerror(rc));
    for (struct addrinfo *ai = list; ai && !found; ai = ai->ai_next)
        found = to_v6(ai->ai_addr, &a) && memcmp(&a, &peer, sizeof(a)) == 0;
    freeaddrinfo(list);
    if (found)
        return 0;
    return lbx_error_set(&p->err, -EADDRNOTAVAIL,
                         "a connection says that it is host %s and comes from another address",
                         p->proof.host);
}

static int check_credential(struct lbd_prove *p)
{
    uint8_t payload[PAYLOAD_BYTES];
    uid_t uid = (uid_t)-1;
    size_t n = 0;
    int rc = lbd_munge_decode(p->credential, payload, sizeof(payload), &n, &uid, &p->err);

    if (rc < 0)
        return -EACCES;
    if (uid != 0 && uid != geteuid())
        return lbx_error_set(&p->err, -EACCES, "credential of uid %u: root or our own is needed",
                             (unsigned)uid);
    rc = lbw_node_proof_decode(payload, n, &p->proof);
    sodium_memzero(payload, sizeof(payload));
    if (rc < 0)
        return lbx_error_set(&p->err, -EACCES, "credential made for something else");
    if (sodium_memcmp(p->proof.nonce, p->nonce, sizeof(p->nonce)) != 0)
        return lbx_error_set(&p->err, -EACCES, "credential made for another connection");
    return 0;
}

static void work(uv_work_t *w)
{
    struct lbd_prove *p = w->data;

    p->rc = check_credential(p);
    if (p->rc == 0)
        p->rc = check_address(p);
    sodium_memzero(p->credential, sizeof(p->credential));
}

static void after(uv_work_t *w, int status)
{
    struct lbd_prove *p = w->data;

    if (status < 0) /* never begun: lbd is ending */
        p->rc = lbx_error_set(&p->err, -ECANCELED, "lbd is ending");
    p->on_done(p, p->rc);
}

int lbd_prove_start(struct lbd_prove *p, uv_loop_t *loop,
                    void (*on_done)(struct lbd_prove *p, int rc))
{
    p->work.data = p;
    p->on_done = on_done;
    return uv_queue_work(loop, &p->work, work, after);
}
