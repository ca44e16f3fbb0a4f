#!/usr/bin/env bash
# Expected: Wireshark's field tls.resumed, "This session reuses previously negotiated keys (Session resumption)", marks each resumed connection, so that
# `tshark -Y tls.resumed` counts them.
# Happens: it marks those of TLS 1.2, by session ID and by ticket, and none of TLS 1.3, with a key log neither. What shows a resumption of TLS 1.3 is
# tls.handshake.extensions.psk.identity.selected in the ServerHello.
# Versions: tshark 4.0.17 (Debian 4.0.17-0+deb12u3); client and server: OpenSSL 3.0. Needs root, to capture on the loopback interface.
# Date: 2026-11-28
# Source: `tshark -G fields`; RFC 9846 (and 8446), section 4.3.11 (4.2.11).
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
[ "$(id -u)" -eq 0 ] || unavailable "root, to capture"
version=4.0.17-0+deb12u3
debian tshark=$version wireshark-common=$version libwireshark16=$version libwireshark-data=$version libwiretap13=$version libwsutil14=$version libpcap0.8 \
    libbcg729-0 libc-ares2 liblua5.2-0 libmaxminddb0 libnl-3-200 libnl-genl-3-200 libnl-route-3-200 libopus0 libsbc1 libsmi2ldbl libspandsp2 libspeexdsp1
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu:$tmp/root/lib/x86_64-linux-gnu" WIRESHARK_DATA_DIR="$tmp/root/usr/share/wireshark" HOME="$tmp"
certificate t
port=$(free_port)
serve "$port" openssl s_server -accept "127.0.0.1:$port" -cert "$tmp/t.pem" -key "$tmp/t.key" -www -quiet
# Two connections, the second of which resumes; what is captured of both is in $tmp/NAME.pcapng.
capture() {
    local name=$1 offer capturing && shift
    "$tmp/root/usr/bin/dumpcap" -q -i lo -f "tcp port $port" -w "$tmp/$name.pcapng" 2>"$tmp/dumpcap.log" &
    capturing=$! && echo "$capturing" >>"$tmp/started"
    for _ in $(seq 100); do grep -q '^File:' "$tmp/dumpcap.log" && break || sleep 0.1; done
    for offer in -sess_out -sess_in; do
        (sleep 0.5; printf 'GET / HTTP/1.0\r\n\r\n'; sleep 0.5) |
            openssl s_client -connect "127.0.0.1:$port" "$@" -keylogfile "$tmp/keys" "$offer" "$tmp/session" 2>/dev/null | grep -oE '^(New|Reused)' | head -1
    done | paste -sd' ' >"$tmp/$name.seen"
    sleep 1 && kill -INT "$capturing" && wait "$capturing"
}
# The number of connections in which a field occurs.
with() { "$tmp/root/usr/bin/tshark" -r "$tmp/$1.pcapng" -d "tcp.port==$port,tls" -Y "$2" -T fields -e tcp.stream "${@:3}" 2>/dev/null | sort -u | wc -l; }
selected=tls.handshake.extensions.psk.identity.selected
capture id -tls1_2 -no_ticket
capture ticket -tls1_2
capture 1.3 -tls1_3
for name in id ticket 1.3; do holds "$name, what OpenSSL says of both connections" "New Reused" "$(cat "$tmp/$name.seen")"; done
holds "TLS 1.2, session ID: connections with tls.resumed" 1 "$(with id tls.resumed)"
holds "TLS 1.2, ticket: connections with tls.resumed" 1 "$(with ticket tls.resumed)"
holds "TLS 1.3: connections with tls.resumed" 0 "$(with 1.3 tls.resumed)"
holds "TLS 1.3 with a key log: connections with tls.resumed" 0 "$(with 1.3 tls.resumed -o "tls.keylog_file:$tmp/keys")"
holds "TLS 1.3 with a key log: connections with HTTP" 2 "$(with 1.3 http.request -o "tls.keylog_file:$tmp/keys")"
holds "TLS 1.3: connections with a selected PSK" 1 "$(with 1.3 $selected)"
finish
