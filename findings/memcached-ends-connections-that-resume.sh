#!/usr/bin/env bash
# Expected: a memcached that asks for client certificates (ssl_verify_mode 1, 2 or 3) resumes the sessions of which it gives tickets, as one without does, or
# makes a full handshake.
# Happens: it gives a ticket on each connection and ends each one that offers it, with the alert internal_error: OpenSSL wants a session ID context where
# certificates are asked for, and memcached sets one only with ssl_session_cache. With that option, said to be a cache on the server, tickets resume.
# Versions: memcached 1.6.18 (Debian 1.6.18-1+deb12u1), OpenSSL 3.0
# Date: 2026-11-28
# Source: OpenSSL's manual, SSL_CTX_set_session_id_context, Warnings; `memcached -h` says of ssl_session_cache: "enable server-side SSL session cache".
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian memcached=1.6.18-1+deb12u1 libevent-2.1-7
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu"
certificate m
check() {
    local version name=$1 expected=$2 options=$3
    port=$(free_port)
    serve "$port" "$tmp/root/usr/bin/memcached" -u "$(id -un)" -l 127.0.0.1 -p "$port" -U 0 -t 1 -Z \
        -o "ssl_chain_cert=$tmp/m.pem,ssl_key=$tmp/m.key,ssl_ca_cert=$tmp/m.pem,$options"
    for version in 1.2 1.3; do
        holds "$name, TLS $version" "$expected" "$(resume "$port" --tls "$version" --count 4 --cert "$tmp/m.pem" --key "$tmp/m.key" --send 'version\r\n')"
    done
}
# The alert that a connection gets which offers a session.
alert() {
    local certificate=(-connect "127.0.0.1:$port" -cert "$tmp/m.pem" -key "$tmp/m.key")
    (sleep 1) | openssl s_client "${certificate[@]}" -sess_out "$tmp/session" >/dev/null 2>&1
    (sleep 1) | openssl s_client "${certificate[@]}" -sess_in "$tmp/session" 2>&1 | grep -oE 'alert [a-z ]+' | head -1
}
check "no client certificates" frrr ssl_verify_mode=0
check "client certificates requested" fxxx ssl_verify_mode=1
check "client certificates required" fxxx ssl_verify_mode=2
holds "its alert" "alert internal error" "$(alert)"
check "required, with ssl_session_cache" frrr ssl_verify_mode=2,ssl_session_cache
finish
