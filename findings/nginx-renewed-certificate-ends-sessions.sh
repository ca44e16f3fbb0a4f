#!/usr/bin/env bash
# Expected: with ssl_session_ticket_key and a shared cache, sessions outlive a reload, also the one that loads a renewed certificate of the same key and name.
# Happens: they outlive a reload, and end with the renewed certificate: nginx puts a hash of the certificate into the session ID context.
# HAProxy with tls-ticket-keys keeps the same sessions over the same renewal.
# Versions: nginx 1.22.1 (Debian 1.22.1-9+deb12u11), HAProxy 2.6.12 (Debian 2.6.12-1+deb12u4), OpenSSL 3.0
# Date: 2026-11-28
# Source: nginx's documentation of ssl_session_ticket_key does not mention it; ngx_ssl_session_id_context in its source does it.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian nginx=1.22.1-9+deb12u11 haproxy=2.6.12-1+deb12u4 libopentracing-c-wrapper0 liblua5.3-0
certificate old && certificate new "$tmp/old.key" && cat "$tmp/old.pem" "$tmp/old.key" >"$tmp/now.pem"
openssl rand 80 >"$tmp/ticket.key"
for _ in 1 2 3; do openssl rand -base64 48; done >"$tmp/ticket.keys"
port=$(free_port)
cat >"$tmp/nginx.conf" <<NGINX
daemon off; pid $tmp/nginx.pid; error_log $tmp/error.log; worker_processes 1;
events {}
http {
    access_log off; client_body_temp_path $tmp; proxy_temp_path $tmp; fastcgi_temp_path $tmp; uwsgi_temp_path $tmp; scgi_temp_path $tmp;
    server {
        listen 127.0.0.1:$port ssl; ssl_certificate $tmp/now.pem; ssl_certificate_key $tmp/old.key; ssl_protocols TLSv1.2 TLSv1.3;
        ssl_session_cache shared:S:1m; ssl_session_ticket_key $tmp/ticket.key;
        location / { return 200; }
    }
}
NGINX
serve "$port" "$tmp/root/usr/sbin/nginx" -c "$tmp/nginx.conf" -p "$tmp"
reload="kill -HUP $(cat "$tmp/nginx.pid"); sleep 1"
renew="cat $tmp/new.pem $tmp/old.key >$tmp/now.pem; $reload"
back="cat $tmp/old.pem $tmp/old.key >$tmp/now.pem"
holds "nginx, TLS 1.3, reload" frr "$(resume "$port" --count 3 --renewal "$reload")"
holds "nginx, TLS 1.3, reload with a renewed certificate" ffr "$(resume "$port" --count 3 --renewal "$renew")"
eval "$back; $reload"
holds "nginx, TLS 1.2 by ID, reload with a renewed certificate" ffr "$(resume "$port" --tls 1.2 --ids --count 3 --renewal "$renew")"
eval "$back"
port=$(free_port)
cat >"$tmp/haproxy.cfg" <<HAPROXY
global
    stats socket $tmp/haproxy.sock level admin
defaults
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend f
    bind 127.0.0.1:$port ssl crt $tmp/now.pem tls-ticket-keys $tmp/ticket.keys
    http-request return status 200
HAPROXY
serve "$port" "$tmp/root/usr/sbin/haproxy" -W -db -f "$tmp/haproxy.cfg"
master=$(tail -1 "$tmp/started")
renew="cat $tmp/new.pem $tmp/old.key >$tmp/now.pem; kill -USR2 $master; sleep 1"
holds "HAProxy, TLS 1.3, reload with a renewed certificate" rr "$(resume "$port" --count 3 --renewal "$renew" | cut -c2-)"
finish
