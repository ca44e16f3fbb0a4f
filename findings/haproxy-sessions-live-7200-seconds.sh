#!/usr/bin/env bash
# Expected: sessions live 300 s, as HAProxy's manual says of tune.ssl.lifetime ("This value is expressed in seconds and defaults to 300").
# Happens: tickets state 7200 s, OpenSSL's own default. With tune.ssl.lifetime they state what is set.
# Versions: HAProxy 2.6.12 (Debian 2.6.12-1+deb12u4), OpenSSL 3.0
# Date: 2026-11-28
# Source: HAProxy 2.6, configuration manual, tune.ssl.lifetime.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian haproxy=2.6.12-1+deb12u4 libopentracing-c-wrapper0 liblua5.3-0
certificate h && cat "$tmp/h.key" >>"$tmp/h.pem"
stated() {
    local port
    port=$(free_port)
    cat >"$tmp/haproxy.cfg" <<HAPROXY
global
    $1
defaults
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend f
    bind 127.0.0.1:$port ssl crt $tmp/h.pem
    http-request return status 200
HAPROXY
    serve "$port" "$tmp/root/usr/sbin/haproxy" -db -f "$tmp/haproxy.cfg" >&2
    seen=$(resume "$port" --count 2 --tickets)
}
stated "" && holds "nothing set" "fr lifetime=7200" "$seen"
stated "tune.ssl.lifetime 300" && holds "tune.ssl.lifetime 300" "fr lifetime=300" "$seen"
finish
