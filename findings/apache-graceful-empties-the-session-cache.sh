#!/usr/bin/env bash
# Expected: `apachectl graceful` keeps the TLS 1.2 sessions of SSLSessionCache shmcb: the cache lies in shared memory of the parent, which goes on.
# Happens: it is made anew at each graceful restart, and every session ID given before is refused.
# Versions: Apache 2.4.71 (Debian 2.4.71-1~deb12u1), OpenSSL 3.0
# Date: 2026-11-28
# Source: mod_ssl's documentation of SSLSessionCache does not say so.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian apache2-bin=2.4.71-1~deb12u1 libapr1 libaprutil1
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu"
certificate a
port=$(free_port) modules=$tmp/root/usr/lib/apache2/modules
cat >"$tmp/httpd.conf" <<APACHE
ServerRoot $tmp
ServerName localhost
PidFile $tmp/httpd.pid
ErrorLog $tmp/error.log
Listen 127.0.0.1:$port
User $(id -un)
DocumentRoot $tmp
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule socache_shmcb_module $modules/mod_socache_shmcb.so
LoadModule ssl_module $modules/mod_ssl.so
DefaultRuntimeDir $tmp
SSLSessionCache shmcb:$tmp/cache(512000)
SSLSessionTickets off
SSLEngine on
SSLCertificateFile $tmp/a.pem
SSLCertificateKeyFile $tmp/a.key
SSLProtocol TLSv1.2
APACHE
[ "$(id -u)" -ne 0 ] || sed -i 's/^User .*/User nobody\nGroup nogroup/' "$tmp/httpd.conf"
chmod 755 "$tmp"
serve "$port" "$tmp/root/usr/sbin/apache2" -DFOREGROUND -f "$tmp/httpd.conf"
graceful="$tmp/root/usr/sbin/apache2 -f $tmp/httpd.conf -k graceful; sleep 2"
holds "no restart" frrr "$(resume "$port" --tls 1.2 --ids --count 4)"
holds "a graceful restart after the first connection" ffrr "$(resume "$port" --tls 1.2 --ids --count 4 --renewal "$graceful")"
finish
