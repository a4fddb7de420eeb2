/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's figures as its balancer tells them. */
#include "lbd/jobs.h"

#include <errno.h>
#include <jansson.h>

int lbd_job_check(const char *json, struct lbx_error *err)
{
    json_error_t why;
    json_t *o = json_loads(json, JSON_REJECT_DUPLICATES, &why);

    if (!o)
        return lbx_error_set(err, -EINVAL, "job figures: %s at byte %d", why.text, why.position);
    if (!json_is_object(o)) {
        json_decref(o);
        return lbx_error_set(err, -EINVAL, "job figures: an object is needed");
    }
    json_decref(o);
    return 0;
}
