/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's questions to lbd. */
#include "lbd/ctl/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "wire/local.h"

#define WAIT_NS (5 * LBX_NS_PER_S)
#define PARTS_MAX 1000

static int ask_once(const char *socket, const char *request, json_t **ret, struct lbx_error *err)
{
    struct lbw_local_msg *msg = calloc(2, sizeof(*msg)); /* large */
    json_t *o;
    int rc;

    if (!msg)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    msg[0].type = LBW_L_COMMAND;
    snprintf(msg[0].u.text.text, sizeof(msg[0].u.text.text), "%s", request);
    rc = lbw_local_ask(socket, &msg[0], lbx_clock_mono_ns() + WAIT_NS, &msg[1]);
    if (rc < 0) {
        lbx_error_set(err, rc, "lbd at %s: %s", socket, strerror(-rc));
    } else if (msg[1].type != LBW_L_TEXT) {
        rc = lbx_error_set(err, -EREMOTEIO, "%s",
                           msg[1].type == LBW_L_ERROR ? msg[1].u.text.text
                                                      : "lbd's answer is not understood");
    } else {
        o = json_loads(msg[1].u.text.text, 0, NULL);
        if (json_is_object(o))
            *ret = o;
        else
            rc = lbx_error_set(err, -EREMOTEIO,
                               "lbd's answer is not understood: is it of another version?");
        if (rc < 0)
            json_decref(o);
    }
    free(msg);
    return rc < 0 ? rc : 0;
}

int lbd_ctl_ask(const char *socket, const char *request, const char *list, json_t **ret,
                struct lbx_error *err)
{
    json_t *all = NULL, *part;
    char text[256];
    int rc = ask_once(socket, request, &all, err);

    for (int i = 0; rc == 0 && list && i < PARTS_MAX; i++) {
        const json_t *next = json_object_get(all, "next");

        if (!json_is_integer(next))
            break;
        snprintf(text, sizeof(text), "%s %lld", request, (long long)json_integer_value(next));
        rc = ask_once(socket, text, &part, err);
        if (rc < 0)
            break;
        json_array_extend(json_object_get(all, list), json_object_get(part, list));
        json_object_set(all, "next", json_object_get(part, "next"));
        json_decref(part);
    }
    if (rc < 0)
        json_decref(all);
    else
        *ret = all;
    return rc;
}
