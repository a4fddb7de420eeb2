#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A real lbd on loopback: both formats and gzip, service discovery, users and TLS by web.yml and their reload, and clients
# that are slow or send nonsense.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
lbd=${LB_BUILD:-$PWD}/sbin/lbd
for t in curl openssl python3; do command -v $t >/dev/null || { echo "$t is not installed"; exit 77; }; done
[ -x "$lbd" ] || { echo "$lbd is not built"; exit 77; }
tmp=$(mktemp -d)
pid='' failed=0
cleanup() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; }
  rm -rf "$tmp"
}
trap cleanup EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

check() { # TEXT CMD...
  local text=$1
  shift
  if "$@" >"$tmp/said" 2>&1; then echo "ok: $text"; else
    echo "FAILED: $text: $*"
    sed 's/^/  /' "$tmp/said" | tail -n 15
    failed=1
  fi
}
is() { [ "$2" = "$3" ] && echo "ok: $1" || { echo "FAILED: $1: '$2' instead of '$3'"; failed=1; }; }
within() { # CMD...: 30 s at most
  local i
  for ((i = 0; i < 300; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
  return 1
}
get() { curl -s --max-time 10 --cacert "$tmp/cert.pem" "$@"; }
code() { get -o /dev/null -w '%{http_code}' "$@"; }

# Slurm, as far as lbd asks it.
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "n1 10.0.0.1"\necho "n2 10.0.0.2"\n' >"$tmp/bin/sinfo"
printf '#!/bin/sh\necho "ClusterName             = one"\necho "SlurmctldHost[0]        = head(10.0.0.9)"\n' >"$tmp/bin/scontrol"
chmod 755 "$tmp/bin"/*
PATH=$tmp/bin:$PATH

hash=$(python3 -c 'import ctypes; c = ctypes.CDLL("libcrypt.so.1"); c.crypt.restype = ctypes.c_char_p; print(c.crypt(b"secret", b"$2b$04$abcdefghijklmnopqrstuu").decode())')
printf '# nothing yet\n' >"$tmp/web.yml"
: >"$tmp/policy.conf"
"$lbd" --role=controller --host=head --socket="$tmp/s" --state="$tmp/state" --config="$tmp/policy.conf" --listen=127.0.0.1:0 \
  --metrics=127.0.0.1:$port --web-config="$tmp/web.yml" 2>"$tmp/log" &
pid=$!
url=http://127.0.0.1:$port
check "it answers" within get -f $url/metrics

get -D "$tmp/head" $url/metrics >"$tmp/page"
check "the classic text" grep -qi '^content-type: text/plain; version=0.0.4' "$tmp/head"
command -v promtool >/dev/null && check "promtool takes it" promtool check metrics <"$tmp/page"
get -D "$tmp/head" -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' $url/metrics >"$tmp/om"
check "OpenMetrics where that is asked for" grep -qi '^content-type: application/openmetrics-text' "$tmp/head"
is "which ends as it must" "$(tail -n 1 "$tmp/om")" "# EOF"
get -D "$tmp/head" -H 'Accept-Encoding: gzip' $url/metrics >"$tmp/zipped"
check "gzip where that is taken" grep -qi '^content-encoding: gzip' "$tmp/head"
check "which is the page" bash -c "gzip -dc <'$tmp/zipped' | grep -q '^lbd_build_info'"
get -D "$tmp/head" -H 'Accept-Encoding: gzip;q=0.000' $url/metrics >/dev/null
check "and not where it is refused" bash -c "! grep -qi '^content-encoding' '$tmp/head'"
is "another page is not there" "$(code $url/secret)" 404
is "nothing is posted" "$(code -d x $url/metrics)" 405

check "service discovery knows Slurm's nodes" within get -f $url/sd
is "and this host" "$(get $url/sd | python3 -c 'import json, sys; print(*[(t["targets"][0], t["labels"]["cluster"], t["labels"]["node"]) for t in json.load(sys.stdin)])')" \
  "('10.0.0.1:$port', 'one', 'n1') ('10.0.0.2:$port', 'one', 'n2') ('10.0.0.9:$port', 'one', 'head')"
"$lbd" --print-sd --role=controller --host=head --metrics=:$port >"$tmp/sd" 2>&1
is "--print-sd prints the same" "$(cat "$tmp/sd")" "$(get $url/sd)"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/sinfo"
"$lbd" --print-sd >"$tmp/sd" 2>&1
is "without Slurm it fails" $? 1
check "and says why" grep -q 'sinfo' "$tmp/sd"

# Slow clients, and nonsense: the rest is served meanwhile, they are closed.
cat >"$tmp/slow.py" <<'P'
import socket, sys, time
port, n = int(sys.argv[1]), 16
kinds = (b'GET /metrics HTTP/1.1\r\nHost: a\r\nX: ', b'', b'\x16\x03\x01\x00\xff', b'GET /' + b'a' * 60000)
clients = []
for i in range(n):
    s = socket.create_connection(('127.0.0.1', port))
    try:
        s.sendall(kinds[i % len(kinds)])
    except OSError:
        pass
    clients.append(s)
late = socket.create_connection(('127.0.0.1', port), timeout=30)
late.sendall(b'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
page = b''
while True:
    got = late.recv(65536)
    if not got:
        break
    page += got
assert page.startswith(b'HTTP/1.1 200') and b'lbd_build_info' in page, page[:200]
for s in clients:
    s.setblocking(False)
# A byte now and then keeps nobody alive.
until = time.monotonic() + 60
while clients and time.monotonic() < until:
    for s in list(clients):
        try:
            if s.recv(65536) == b'':
                clients.remove(s)
                continue
        except BlockingIOError:
            pass
        except OSError:
            clients.remove(s)
            continue
        try:
            s.send(b'a')
        except OSError:
            clients.remove(s)
    time.sleep(0.3)
assert not clients, f'{len(clients)} slow clients are still there'
P
check "16 slow clients hold nobody up, and are closed though they trickle" python3 "$tmp/slow.py" $port
is "it still answers" "$(code $url/metrics)" 200

# A server is replaced while it is asked nonsense: what is no request has an answer of libmicrohttpd's own.
cat >"$tmp/nonsense.py" <<'P'
import socket, sys, threading, time
port, until = int(sys.argv[1]), time.monotonic() + 3
answers = []
def ask():
    while time.monotonic() < until:
        try:
            with socket.create_connection(('127.0.0.1', port), timeout=5) as s:
                s.sendall(b'GET /metrics HTTP/9.9 nonsense\r\nno header\r\n\r\n')
                answers.append(s.recv(12))
        except OSError:
            pass
threads = [threading.Thread(target=ask) for _ in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert b'HTTP/1.1 400' in answers, set(answers)
P
python3 "$tmp/nonsense.py" $port >"$tmp/nonsense" 2>&1 &
asking=$!
reloads=0
while kill -0 $asking 2>/dev/null && kill -HUP $pid 2>/dev/null; do
  reloads=$((reloads + 1))
  sleep 0.03
done
answered() { wait $asking || { cat "$tmp/nonsense"; return 1; }; }
check "nonsense is answered" answered
check "while web.yml is read 20 times at least" [ $reloads -ge 20 ]
is "and lbd is still there" "$(code $url/metrics)" 200

reload() { # what the log then has
  : >"$tmp/log"
  kill -HUP $pid
  within grep -q "$1" "$tmp/log"
}
printf 'basic_auth_users:\n  ada: %s\n' "$hash" >"$tmp/web.yml"
kill -HUP $pid
refused() { [ "$(code $url/metrics)" = 401 ]; }
check "after a reload a password is asked for" within refused
is "the right one is taken" "$(code -u ada:secret $url/metrics)" 200
is "a wrong one is not" "$(code -u ada:Secret $url/metrics)" 401
is "nor another user" "$(code -u bob:secret $url/metrics)" 401
is "also for service discovery" "$(code $url/sd)" 401
is "and where nothing is" "$(code $url/)" 401

printf 'basic_auth_users:\n  ada: %s\ntls: yes\n' "$hash" >"$tmp/web.yml"
check "a mistake is named with file and line" reload "web.yml:3: key tls is not known here.*the old one stays in force"
is "and the old one stays in force" "$(code $url/metrics) $(code -u ada:secret $url/metrics)" "401 200"
counted() { get -u ada:secret $url/metrics | grep -q '^lbd_config_reload_failures_total 1$'; }
check "and it is counted" within counted

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$tmp/key.pem" -out "$tmp/cert.pem" -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
cat >"$tmp/web.yml" <<Y
tls_server_config:
  cert_file: cert.pem
  key_file: key.pem
basic_auth_users:
  ada: $hash
Y
kill -HUP $pid
secure=https://localhost:$port
tls_up() { [ "$(code -u ada:secret $secure/metrics)" = 200 ]; }
check "TLS after a reload" within tls_up
is "with a password" "$(code $secure/metrics)" 401
is "and in plain text no more" "$(code -u ada:secret $url/metrics)" 000
is "TLS 1.1 is refused" "$(code --tls-max 1.1 -u ada:secret $secure/metrics)" 000

# Clients that must show a certificate.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$tmp/ca.key" -out "$tmp/ca.pem" -days 2 -subj /CN=ca 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$tmp/client.key" -out "$tmp/client.csr" -subj /CN=prometheus 2>/dev/null
openssl x509 -req -in "$tmp/client.csr" -CA "$tmp/ca.pem" -CAkey "$tmp/ca.key" -CAcreateserial -days 2 -out "$tmp/client.pem" 2>/dev/null
cat >"$tmp/web.yml" <<Y
tls_server_config:
  cert_file: cert.pem
  key_file: key.pem
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.pem
  min_version: TLS13
Y
kill -HUP $pid
with_cert() { [ "$(code --cert "$tmp/client.pem" --key "$tmp/client.key" $secure/metrics)" = 200 ]; }
check "a client's certificate after a reload" within with_cert
check "without one, nothing" bash -c "[ '$(code $secure/metrics)' != 200 ]"
check "with one of somebody else, nothing" bash -c "[ '$(code --cert "$tmp/cert.pem" --key "$tmp/key.pem" $secure/metrics)' != 200 ]"
is "TLS 1.2 is refused" "$(code --tls-max 1.2 --cert "$tmp/client.pem" --key "$tmp/client.key" $secure/metrics)" 000

kill $pid
wait $pid
is "it ends well" $? 0
pid=
: >"$tmp/log"
printf 'basic_auth_users: 7\n' >"$tmp/web.yml"
"$lbd" --role=controller --host=head --socket="$tmp/s" --state="$tmp/state" --config="$tmp/policy.conf" --listen=127.0.0.1:0 \
  --metrics=127.0.0.1:$port --web-config="$tmp/web.yml" 2>"$tmp/log" &
pid=$!
check "started with a wrong web.yml it serves nothing, and goes on" within grep -q "no /metrics: $tmp/web.yml:1: " "$tmp/log"
is "nothing" "$(code $url/metrics)" 000
check "it runs" kill -0 $pid
exit $failed
