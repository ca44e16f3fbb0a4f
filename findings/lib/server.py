"""An HTTPS server on OpenSSL that closes after each response, properly, and says which connections resumed.

server.py PORT CERTIFICATE KEY FILE [1.2|1.3]: writes one letter a connection to FILE, f full or r resumed.
"""
import socket
import ssl
import sys

port, certificate, key, file, *version = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
if version:
    wanted = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[version[0]]
    context.minimum_version = context.maximum_version = wanted
listener = socket.create_server(("127.0.0.1", int(port)))
while True:
    raw, _ = listener.accept()
    raw.settimeout(5)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        tls = context.wrap_socket(raw, server_side=True)
        with open(file, "a", encoding="ascii") as letters:
            letters.write("r" if tls.session_reused else "f")
        if tls.recv(65536):
            tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
        tls.unwrap().close()
    except OSError:
        raw.close()
