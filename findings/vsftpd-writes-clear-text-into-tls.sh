#!/usr/bin/env bash
# Expected: what vsftpd has to say inside a TLS connection, it says encrypted: a client shows "500 OOPS: cannot change directory" where anon_root is missing.
# Happens: the line is written in clear text between the TLS records, without an alert. The client takes its first bytes for a record of an unknown TLS
# version, reports "wrong version number", and whoever reads it looks for a fault in TLS settings.
# Versions: vsftpd 3.0.3 (Debian 3.0.3-13+b2), OpenSSL 3.0. Needs root, as vsftpd does.
# Date: 2026-11-28
# Source: run here; RFC 4217, section 4, has the replies protected from the handshake on.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
[ "$(id -u)" -eq 0 ] || unavailable "root, which vsftpd needs"
debian vsftpd=3.0.3-13+b2 libwrap0 libcap2 libpam0g
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu:$tmp/root/lib/x86_64-linux-gnu"
certificate v
mkdir "$tmp/empty" "$tmp/there" && chmod 755 "$tmp" "$tmp/there" "$tmp/empty"
# Logs in, and says what the server sends after the password: the first bytes on the wire, and what TLS makes of them.
login() {
    local port
    port=$(free_port)
    cat >"$tmp/vsftpd.conf" <<VSFTPD
listen=YES
listen_address=127.0.0.1
listen_port=$port
background=NO
anonymous_enable=YES
anon_root=$tmp/$1
ftp_username=daemon
secure_chroot_dir=$tmp/empty
ssl_enable=YES
allow_anon_ssl=YES
rsa_cert_file=$tmp/v.pem
rsa_private_key_file=$tmp/v.key
VSFTPD
    serve "$port" "$tmp/root/usr/sbin/vsftpd" "$tmp/vsftpd.conf"
    python3 - "$port" <<'PYTHON'
import os, re, socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
raw = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
raw.recv(1024)
raw.sendall(b"AUTH TLS\r\n")
raw.recv(1024)
tls = context.wrap_socket(raw)
tls.sendall(b"USER anonymous\r\n")
tls.recv(1024)
wire = socket.socket(fileno=os.dup(tls.fileno()))
wire.settimeout(5)
tls.sendall(b"PASS x\r\n")
first = wire.recv(64, socket.MSG_PEEK)
on_wire = "a TLS record" if first[0] == 23 else first.decode("ascii").split(":")[0]
try:
    read = tls.recv(1024).decode().split()[0]
except ssl.SSLError as error:
    read = error.reason
print(f"{on_wire}, {read}")
PYTHON
}
holds "anon_root exists" "a TLS record, 230" "$(login there)"
holds "anon_root is missing" "500 OOPS, WRONG_VERSION_NUMBER" "$(login missing)"
finish
