#!/usr/bin/env bash
# Expected: `tls-session-caching yes`, the default of redis.conf, lets TLS 1.2 clients resume by the session ID that they were given.
# Happens: each ID is refused. Redis frees a connection without close_notify, and OpenSSL drops the session of a connection that was not shut
# down from its cache. A ticket holds the session itself, and resumes.
# Versions: Redis 7.0.15 (Debian 5:7.0.15-1~deb12u10), OpenSSL 3.0
# Date: 2026-11-28
# Source: redis.conf, tls-session-caching; OpenSSL's manual, SSL_shutdown and SSL_set_shutdown.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian redis-tools=5:7.0.15-1~deb12u10 libjemalloc2 liblua5.1-0 liblzf1 libatomic1
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu"
certificate redis
port=$(free_port)
ln -s redis-check-rdb "$tmp/root/usr/bin/redis-server" 2>/dev/null
serve "$port" "$tmp/root/usr/bin/redis-server" --port 0 --tls-port "$port" --tls-cert-file "$tmp/redis.pem" --tls-key-file "$tmp/redis.key" \
    --tls-ca-cert-file "$tmp/redis.pem" --tls-auth-clients no --save '' --dir "$tmp"
holds "TLS 1.2, session IDs" ffffff "$(resume "$port" --tls 1.2 --ids --send 'PING\r\n')"
holds "TLS 1.2, tickets" frrrrr "$(resume "$port" --tls 1.2 --send 'PING\r\n')"
finish
