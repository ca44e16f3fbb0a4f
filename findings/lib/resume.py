"""Connects several times, one after the other, each time offering the newest session. Prints one letter a connection: f full, r resumed, x failed.

resume.py PORT [--tls 1.2|1.3] [--ids] [--count N] [--cert FILE --key FILE] [--path PATH] [--tickets]
--ids: no session tickets under TLS 1.2, so that session IDs are offered. --tickets: prints the lifetime that the last ticket states as well.
--statuses: prints the HTTP status of each answer. --waits: prints the milliseconds from a request to the end of its answer. --requests N: on each connection.
"""
import argparse
import re
import socket
import ssl
import time

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--tls", default="1.3")
parser.add_argument("--ids", action="store_true")
parser.add_argument("--count", type=int, default=6)
parser.add_argument("--requests", type=int, default=1)
parser.add_argument("--pause", type=float, default=0)
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--path", default="/")
parser.add_argument("--send", help="what is sent instead of an HTTP request")
parser.add_argument("--tickets", action="store_true")
parser.add_argument("--statuses", action="store_true")
parser.add_argument("--waits", action="store_true")
parser.add_argument("--renewal", help="a command that is run between the first connection and the second")
options = parser.parse_args()

version = ssl.TLSVersion.TLSv1_2 if options.tls == "1.2" else ssl.TLSVersion.TLSv1_3
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
context.minimum_version = context.maximum_version = version
if options.ids:
    context.options |= ssl.OP_NO_TICKET
if options.cert:
    context.load_cert_chain(options.cert, options.key)

request = f"GET {options.path} HTTP/1.1\r\nHost: localhost\r\n{{}}\r\n"
session, letters, lifetime, statuses, waits = None, "", None, [], []
for connection in range(options.count):
    if connection == 1 and options.renewal:
        import subprocess

        subprocess.run(options.renewal, shell=True, check=True)
    if connection:
        time.sleep(options.pause)
    try:
        raw = socket.create_connection(("127.0.0.1", options.port), 5)
        with context.wrap_socket(raw, server_hostname="localhost", session=session) as tls:
            for number in range(options.requests):
                last = number + 1 == options.requests
                begun = time.monotonic()
                text = options.send or request.format("Connection: close\r\n" if last else "")
                tls.sendall(text.encode().decode("unicode_escape").encode() if options.send else text.encode())
                answer = tls.recv(65536)
                # To the end of the body, where its length is said.
                head, _, body = answer.partition(b"\r\n\r\n")
                said = re.search(rb"content-length: (\d+)", head, re.I)
                length = int(said.group(1)) if said else 0
                while len(body) < length:
                    body += tls.recv(65536)
                waits.append(round((time.monotonic() - begun) * 1000))
            statuses.append(answer[9:12].decode("ascii", "replace") if answer.startswith(b"HTTP/") else "-")
            # Whatever comes until the server closes: with it the server's close_notify.
            tls.settimeout(0.5)
            try:
                while not options.send and tls.recv(65536):
                    pass
            except (TimeoutError, OSError):
                pass
            letters += "r" if tls.session_reused else "f"
            if tls.session is not None:
                session = tls.session
                lifetime = session.ticket_lifetime_hint if session.has_ticket else None
            try:
                tls.settimeout(0.5)
                tls.unwrap()
            except OSError:
                pass
    except OSError as error:
        letters += "x"
        statuses.append(type(error).__name__)
print(letters, *([f"lifetime={lifetime}"] if options.tickets else []), *([",".join(statuses)] if options.statuses else []),
      *([",".join(map(str, waits))] if options.waits else []))
