# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
lanes_main() { fail 1 "not yet"; }
