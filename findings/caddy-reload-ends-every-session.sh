#!/usr/bin/env bash
# Expected: a reload of Caddy that changes no TLS setting, only the text of one response, leaves sessions alone: reloads are graceful, and the
# process stays the same.
# Happens: the new configuration begins with new session ticket keys, and each session that was given before is refused.
# Versions: Caddy 2.6.2 (Debian 2.6.2-5)
# Date: 2026-11-28
# Source: Caddy's documentation says of session tickets that keys rotate every 12 hours, and nothing of reloads.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian caddy=2.6.2-5
certificate c
port=$(free_port) admin=$(free_port)
export HOME="$tmp" XDG_DATA_HOME="$tmp" XDG_CONFIG_HOME="$tmp"
cat >"$tmp/Caddyfile" <<CADDY
{
    admin 127.0.0.1:$admin
    auto_https off
}
https://localhost:$port {
    bind 127.0.0.1
    tls $tmp/c.pem $tmp/c.key
    respond "one"
}
CADDY
caddy=$tmp/root/usr/bin/caddy
serve "$port" "$caddy" run --config "$tmp/Caddyfile" --adapter caddyfile
change="sed -i s/one/two/ $tmp/Caddyfile; $caddy reload --config $tmp/Caddyfile --adapter caddyfile --address 127.0.0.1:$admin >/dev/null 2>&1; sleep 1"
holds "no reload" frr "$(resume "$port" --count 3)"
holds "a reload after the first connection" ffr "$(resume "$port" --count 3 --renewal "$change")"
finish
