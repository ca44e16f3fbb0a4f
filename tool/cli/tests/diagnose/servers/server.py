"""A server on Python's ssl, a thread for each connection.

    server.py PORT CERTIFICATE KEY
"""
import socket
import ssl
import sys
import threading

port, certificate, key = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
# A test's own statements.


def serve(plain):
    try:
        plain.settimeout(20)
        with context.wrap_socket(plain, server_side=True) as connection:
            request = b""
            while chunk := connection.recv(4096):
                request += chunk
                if request.endswith(b"\r\n\r\n"):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
                    request = b""
            # A test's own end of a connection.
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
# A test's own listener.
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
