#!/usr/bin/env bash
# Expected: a TLS 1.3 server ignores a pre-shared key whose hash no offered suite has, and makes a full handshake: the offer "MUST" be compatible for the
# server to select it, and a server that selects none goes on without (RFC 9846, section 4.3.11). OpenSSL does so.
# Happens: gnutls-serv ends the connection with the alert handshake_failure. A client whose suites changed since its session was made cannot connect
# until it forgets the session.
# Versions: GnuTLS 3.7.9 (Debian 3.7.9-2+deb12u7); client and the other server: OpenSSL 3.0
# Date: 2026-11-28
# Source: RFC 9846 (and 8446), section 4.3.11 (4.2.11).
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian gnutls-bin=3.7.9-2+deb12u7 libgnutls-dane0=3.7.9-2+deb12u7 libgnutls30=3.7.9-2+deb12u7 libopts25 libunbound8 libevent-2.1-7
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu:$tmp/root/lib/x86_64-linux-gnu"
certificate g
# made SUITE, then offered with SUITE alone: "Reused", "New" or the alert.
offered() {
    (sleep 1) | openssl s_client -connect "127.0.0.1:$1" -tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384 -sess_out "$tmp/session" >/dev/null 2>&1
    (sleep 1) | openssl s_client -connect "127.0.0.1:$1" -tls1_3 -ciphersuites "$2" -sess_in "$tmp/session" 2>&1 |
        grep -oE '^(New|Reused)|alert handshake failure' | head -1
}
port=$(free_port)
serve "$port" "$tmp/root/usr/bin/gnutls-serv" --http --port "$port" --x509certfile "$tmp/g.pem" --x509keyfile "$tmp/g.key"
holds "GnuTLS, the same suite" Reused "$(offered "$port" TLS_AES_256_GCM_SHA384)"
holds "GnuTLS, a suite of another hash" "alert handshake failure" "$(offered "$port" TLS_AES_128_GCM_SHA256)"
port=$(free_port)
LD_LIBRARY_PATH='' serve "$port" openssl s_server -accept "127.0.0.1:$port" -cert "$tmp/g.pem" -key "$tmp/g.key" -www -quiet
holds "OpenSSL, a suite of another hash" New "$(LD_LIBRARY_PATH='' offered "$port" TLS_AES_128_GCM_SHA256)"
finish
