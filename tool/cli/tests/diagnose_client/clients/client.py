"""Connections of Python's ssl module, right or wrong in the way that the first argument says.

    client.py WAY CA ADDRESS PORT NAME...
"""

import socket
import ssl
import sys

WAY, CA, ADDRESS, PORT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
NAMES = sys.argv[5:]


def new_context():
    context = ssl.create_default_context(cafile=CA)
    if WAY == "tls12":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def new_socket():
    return socket.create_connection((ADDRESS, PORT), timeout=10)


def connect(context, host, saved=None):
    return context.wrap_socket(new_socket(), server_hostname=host, session=saved)


def request(connection, host):
    connection.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    while connection.recv(4096):
        pass


def right():
    context, sessions = new_context(), {}
    for host in NAMES:
        connection = connect(context, host, sessions.get(host))
        request(connection, host)
        sessions[host] = connection.session
        connection.close()


def never():
    """Sessions are saved and not handed over."""
    context, saved = new_context(), None
    for host in NAMES:
        sock = new_socket()
        connection = context.wrap_socket(sock, server_hostname=host)
        request(connection, host)
        saved = connection.session
        connection.close()


def rebuild():
    """A new context after every second connection."""
    for host in NAMES:
        context, saved = new_context(), None
        for _ in range(2):
            connection = connect(context, host, saved)
            request(connection, host)
            saved = connection.session
            connection.close()


def close_early():
    """The session is taken before the tickets are read."""
    context, saved = new_context(), None
    for host in NAMES:
        connection = connect(context, host, saved)
        request = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        "asks and reads nothing"
        saved = connection.session
        connection.close()


def reuse():
    """The first connection's session, offered to all others."""
    context, saved = new_context(), None
    for host in NAMES:
        connection = connect(context, host, saved)
        request(connection, host)
        saved = saved or connection.session
        connection.close()


def one_for_all():
    """The latest session, whoever gave it, is offered to every host."""
    context, sessions = new_context(), {}
    for host in NAMES:
        connection = connect(context, host, sessions.get(host))
        request(connection, host)
        sessions = dict.fromkeys(NAMES, connection.session)
        connection.close()


def latest_host():
    """Only the latest host's session is kept."""
    context, sessions = new_context(), {}
    for host in NAMES:
        connection = connect(context, host, sessions.get(host))
        request(connection, host)
        sessions = {host: connection.session}
        connection.close()


def versions():
    """Two contexts in turns, each with the one version that the other has not."""
    old, new = new_context(), new_context()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    new.minimum_version = ssl.TLSVersion.TLSv1_3
    for host in NAMES:
        for context in (old, new):
            connection = connect(context, host)
            request(connection, host)
            connection.close()


def protocols():
    """Every second connection offers fewer protocols."""
    context, saved = new_context(), None
    for number, host in enumerate(NAMES):
        context.set_alpn_protocols(["http/1.1"][number % 2:])
        connection = connect(context, host, saved)
        request(connection, host)
        saved = connection.session
        connection.close()


{
    "right": right,
    "tls12": right,
    "never": never,
    "rebuild": rebuild,
    "close-early": close_early,
    "reuse": reuse,
    "versions": versions,
    "one-for-all": one_for_all,
    "latest-host": latest_host,
    "protocols": protocols,
}[WAY]()
