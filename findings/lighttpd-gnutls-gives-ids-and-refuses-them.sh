#!/usr/bin/env bash
# Expected: a TLS 1.2 server that puts a session ID into its ServerHello remembers the session: RFC 5246, section 7.4.1.3, leaves the ID empty
# where the session cannot be resumed.
# Happens: lighttpd with mod_gnutls has no session cache, gives an ID on each full handshake, and refuses each. Tickets resume.
# Versions: lighttpd 1.4.69 (Debian 1.4.69-1) with mod_gnutls on GnuTLS 3.7.9
# Date: 2026-11-28
# Source: RFC 5246, section 7.4.1.3.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian lighttpd=1.4.69-1 lighttpd-mod-gnutls=1.4.69-1 libgnutls30=3.7.9-2+deb12u7 libpcre2-8-0 libxxhash0
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu:$tmp/root/lib/x86_64-linux-gnu"
certificate l
port=$(free_port)
cat >"$tmp/lighttpd.conf" <<LIGHTTPD
server.document-root = "$tmp"
server.bind = "127.0.0.1"
server.port = $port
server.modules = ("mod_gnutls")
ssl.engine = "enable"
ssl.pemfile = "$tmp/l.pem"
ssl.privkey = "$tmp/l.key"
LIGHTTPD
serve "$port" "$tmp/root/usr/sbin/lighttpd" -D -f "$tmp/lighttpd.conf" -m "$tmp/root/usr/lib/lighttpd"
ids=$(openssl s_client -connect "127.0.0.1:$port" -tls1_2 -no_ticket </dev/null 2>/dev/null | sed -n 's/ *Session-ID: *//p')
holds "length of the session ID, in hexadecimal digits" 64 "${#ids}"
holds "TLS 1.2, session IDs" ffff "$(resume "$port" --tls 1.2 --ids --count 4)"
holds "TLS 1.2, tickets" frrr "$(resume "$port" --tls 1.2 --count 4)"
finish
