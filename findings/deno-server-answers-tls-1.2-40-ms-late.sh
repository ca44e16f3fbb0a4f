#!/usr/bin/env bash
# Expected: a full TLS 1.2 handshake with Deno.serve takes about as long as one of TLS 1.3 does: milliseconds on loopback.
# Happens: it takes 40 ms more: ticket, ChangeCipherSpec and Finished leave in several writes without TCP_NODELAY, and Nagle's algorithm holds back
# what follows the first until it is acknowledged. A resumed one, where the server speaks first, does not wait.
# Versions: Deno 2.9.6 (npm deno@2.9.6), Linux
# Date: 2026-11-28
# Source: run here; RFC 896, RFC 9293 section 3.7.4.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages @deno/linux-x64-glibc@2.9.6
deno=$(find "$tmp/node_modules" -name deno -type f | head -1)
[ -n "$deno" ] && chmod +x "$deno" || unavailable "the program of deno@2.9.6"
certificate d
port=$(free_port)
cat >"$tmp/server.js" <<'JS'
const [tmp, port] = Deno.args;
const [cert, key] = [Deno.readTextFileSync(`${tmp}/d.pem`), Deno.readTextFileSync(`${tmp}/d.key`)];
Deno.serve({ hostname: '127.0.0.1', port: Number(port), cert, key }, () => new Response('x'));
JS
DENO_DIR=$tmp/deno serve "$port" "$deno" run --allow-all "$tmp/server.js" "$tmp" "$port"
# The median of nine handshakes: at least 30 ms, or not.
handshake() {
    python3 - "$port" "$1" <<'PYTHON'
import socket, ssl, statistics, sys, time
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, sys.argv[2])
took = []
for _ in range(9):
    raw = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    begun = time.monotonic()
    with context.wrap_socket(raw, server_hostname="localhost"):
        took.append(time.monotonic() - begun)
print("late" if statistics.median(took) >= 0.03 else "at once")
PYTHON
}
holds "TLS 1.3" "at once" "$(handshake TLSv1_3)"
holds "TLS 1.2" "late" "$(handshake TLSv1_2)"
finish
