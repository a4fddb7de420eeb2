# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests of two lbds on loopback, without a cluster: a controller at the socket $head, a node at $node.
#   get SOCKET COMMAND KEY...    a value of lbctl's answer, keys from the outside; the length of an array
#   get_is VALUE ..., get_like REGEX ..., at_least NUMBER ...     whether it is
#   all_acknowledged SECONDS     what the node had to tell when this was asked is acknowledged
lbctl() { "$LB_BUILD/bin/lbctl" "$@"; }
get() { # SOCKET COMMAND KEY...
  lbctl --json --socket="$1" $2 | perl -MJSON::PP -e '
    my $v = decode_json(join "", <STDIN>);
    $v = ref $v eq "ARRAY" ? $v->[$_] : $v->{$_} for @ARGV;
    print ref $v eq "JSON::PP::Boolean" ? ($v ? "true" : "false") : ref $v eq "ARRAY" ? scalar @$v : $v // "null"' "${@:3}"
}
get_is() { [ "$(get "${@:2}")" = "$1" ]; }
get_like() { get "${@:2}" | grep -- "$1" >/dev/null; }
at_least() { [ "$(get "${@:2}")" -ge "$1" ]; }
# At least one, and what is acknowledged between the two looks is counted twice rather than not at all.  Not that nothing waits:
# where a report comes each half second and a commit each second, something nearly always does.
all_acknowledged() { # SECONDS
  local told
  told=$(($(get "$node" status uplink pending) + $(get "$node" status uplink acknowledged))) &&
    within "$1" at_least $((told > 0 ? told : 1)) "$node" status uplink acknowledged
}
