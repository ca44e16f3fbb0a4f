#!/usr/bin/env bash
# Expected: ssl_ecdh_curve = 'X25519', or the list 'X25519:prime256v1', is accepted, as nginx accepts both in its ssl_ecdh_curve: OpenSSL 3.0 has the group.
# Happens: the server does not start, with "ECDH: could not create key" for the one and "unrecognized curve name" for the other. What remains, and is the
# default, is prime256v1 alone, so that each client that begins with a share of X25519 alone, as those on OpenSSL 3.0 do, gets a HelloRetryRequest: one
# round trip more on each connection.
# Versions: PostgreSQL 15.20 (Debian 15.20-0+deb12u1), OpenSSL 3.0
# Date: 2026-11-28
# Source: PostgreSQL 15's documentation of ssl_ecdh_curve points to `openssl ecparam -list_curves`, and that list is without X25519.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian postgresql-15=15.20-0+deb12u1 libldap-2.5-0 libicu72 libxml2 libsasl2-2
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu" LC_ALL=C
certificate p
# PostgreSQL refuses to run as root.
user=()
mkdir "$tmp/data"
if [ "$(id -u)" -eq 0 ]; then
    user=(setpriv --reuid nobody --regid nogroup --clear-groups)
    chown nobody "$tmp/data" "$tmp/p.key" && chmod 755 "$tmp"
fi
programs=$tmp/root/usr/lib/postgresql/15/bin
(cd "$tmp/data" && "${user[@]}" "$programs/initdb" -D "$tmp/data" -A trust --no-sync >/dev/null 2>&1) || unavailable "a cluster of PostgreSQL"
port=$(free_port)
server=("${user[@]}" "$programs/postgres" -D "$tmp/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories=
    -c ssl=on -c "ssl_cert_file=$tmp/p.pem" -c "ssl_key_file=$tmp/p.key")
refusal() { timeout 10 "${server[@]}" -c "ssl_ecdh_curve=$1" 2>&1 | sed -n 's/.*FATAL: *//p'; }
# How many ClientHellos a handshake takes; the client has a share of the first of the groups.
hellos() { openssl s_client -connect "127.0.0.1:$port" -starttls postgres -groups "$1" -msg </dev/null 2>/dev/null | grep -cE '^>>> .*ClientHello'; }
holds "ssl_ecdh_curve = 'X25519'" "ECDH: could not create key" "$(refusal X25519)"
holds "ssl_ecdh_curve = 'X25519:prime256v1'" "ECDH: unrecognized curve name: X25519:prime256v1" "$(refusal X25519:prime256v1)"
serve "$port" "${server[@]}" -c ssl_ecdh_curve=prime256v1
holds "prime256v1, a client with a share of X25519, ClientHellos" 2 "$(hellos X25519:P-256)"
holds "prime256v1, a client with a share of P-256, ClientHellos" 1 "$(hellos P-256:X25519)"
finish
