/* SPDX-License-Identifier: BSD-3-Clause */
/* What a text of --lb, of SLURM_LB or of policy= asks for. */
#include "slurm_plugin/choice.h"

#include <errno.h>
#include <string.h>

int lbs_choice_parse(const char *text, struct lbs_choice *ret_choice, struct lbx_error *err)
{
    struct lbs_choice choice = {.wish = LBS_ON};
    size_t n = text ? strlen(text) : 0;
    int rc;

    if (n >= sizeof(choice.text))
        return lbx_error_set(err, -EINVAL, "%.40s... is longer than %zu bytes", text,
                             sizeof(choice.text) - 1);
    if (n > 0)
        memcpy(choice.text, text, n + 1);
    lbp_params_init(&choice.params);
    if (text && strcmp(text, "off") == 0) {
        choice.wish = LBS_OFF;
    } else {
        rc = lbp_params_parse(&choice.params, text ? text : "", err);
        if (rc < 0)
            return rc;
    }
    *ret_choice = choice;
    return 0;
}
