#!/usr/bin/env bash
# Expected: with allow-0rtt on the bind line, a request in early data is passed on and answered without waiting for the client's Finished: that is the round
# trip which early data saves, and `http-request wait-for-handshake` is there for whoever does not want it.
# Happens: HAProxy accepts the early data, and neither passes the request to the backend nor answers it itself before the client's second flight has come,
# with EndOfEarlyData and Finished, so that nothing is saved. ssl_fc_has_early is 0 by then. nginx with ssl_early_data, on the same OpenSSL, answers before.
# Versions: HAProxy 2.6.12 (Debian 2.6.12-1+deb12u4), nginx 1.22.1 (Debian 1.22.1-9+deb12u11), OpenSSL 3.0
# Date: 2026-11-28
# Source: HAProxy 2.6, configuration manual, allow-0rtt and wait-for-handshake; issue 3270 of haproxy/haproxy, where a developer says of the answer, not of
# the request, that it waits; RFC 9846, section 2.3.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian nginx=1.22.1-9+deb12u11 haproxy=2.6.12-1+deb12u4 libopentracing-c-wrapper0 liblua5.3-0
certificate e && cat "$tmp/e.pem" "$tmp/e.key" >"$tmp/both.pem"
printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' >"$tmp/request"
# Passes on everything, or, of what the client sends, nothing after the record of early data.
cat >"$tmp/relay.py" <<'PYTHON'
import select, socket, sys
port, server_port, hold = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "held"
listener = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", server_port))
    pending, early, reading = b"", False, [client, server]
    while reading:
        for side in select.select(reading, [], [])[0]:
            data = side.recv(65536)
            if not data:
                reading = []
            elif side is server:
                client.sendall(data)
            else:
                pending += data
        while len(pending) >= 5 and not (hold and early):
            size = 5 + int.from_bytes(pending[3:5], "big")
            if len(pending) < size:
                break
            server.sendall(pending[:size])
            early = pending[0] == 23
            pending = pending[size:]
    client.close()
    server.close()
PYTHON
# What a client sees that sends a request in early data: whether it was accepted, and the answer.
early() {
    local relay
    relay=$(free_port)
    serve "$relay" python3 "$tmp/relay.py" "$relay" "$1" "$2"
    (sleep 1) | openssl s_client -connect "127.0.0.1:$1" -tls1_3 -sess_out "$tmp/session" >/dev/null 2>&1
    (sleep 2) | openssl s_client -connect "127.0.0.1:$relay" -tls1_3 -sess_in "$tmp/session" -early_data "$tmp/request" 2>/dev/null >"$tmp/seen"
    echo "$(grep -aoE 'Early data was [a-z ]+' "$tmp/seen" | tail -1), $(grep -aoE '^answer( [01])?' "$tmp/seen" || echo none)"
}
nginx=$(free_port)
cat >"$tmp/nginx.conf" <<NGINX
daemon off; pid $tmp/nginx.pid; error_log $tmp/error.log; worker_processes 1;
events {}
http {
    access_log off; client_body_temp_path $tmp; proxy_temp_path $tmp; fastcgi_temp_path $tmp; uwsgi_temp_path $tmp; scgi_temp_path $tmp;
    server {
        listen 127.0.0.1:$nginx ssl; ssl_certificate $tmp/e.pem; ssl_certificate_key $tmp/e.key; ssl_protocols TLSv1.3; ssl_early_data on;
        location / { return 200 "answer\n"; }
    }
}
NGINX
serve "$nginx" "$tmp/root/usr/sbin/nginx" -c "$tmp/nginx.conf" -p "$tmp"
haproxy=$(free_port) backend=$(free_port) forwarding=$(free_port)
cat >"$tmp/haproxy.cfg" <<HAPROXY
defaults
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend answering
    bind 127.0.0.1:$haproxy ssl crt $tmp/both.pem allow-0rtt
    http-request return status 200 content-type text/plain lf-string "answer %[ssl_fc_has_early]\n"
frontend forwarding
    bind 127.0.0.1:$forwarding ssl crt $tmp/both.pem allow-0rtt
    default_backend b
backend b
    server s 127.0.0.1:$backend
HAPROXY
serve "$backend" sh -c "exec python3 -m http.server --bind 127.0.0.1 --directory $tmp/root $backend >$tmp/requests 2>&1"
serve "$haproxy" "$tmp/root/usr/sbin/haproxy" -db -f "$tmp/haproxy.cfg"
holds "nginx" "Early data was accepted, answer" "$(early "$nginx" passed)"
holds "nginx, the client's Finished is held back" "Early data was accepted, answer" "$(early "$nginx" held)"
holds "HAProxy" "Early data was accepted, answer 0" "$(early "$haproxy" passed)"
holds "HAProxy, the client's Finished is held back" "Early data was accepted, none" "$(early "$haproxy" held)"
early "$forwarding" held >/dev/null
holds "HAProxy, held back: requests that the backend gets" 0 "$(grep -c GET "$tmp/requests")"
early "$forwarding" passed >/dev/null
holds "HAProxy: requests that the backend gets" 1 "$(grep -c GET "$tmp/requests")"
finish
