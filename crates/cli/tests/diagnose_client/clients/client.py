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


def connect(context, host, saved=None):
    sock = socket.create_connection((ADDRESS, PORT), timeout=10)
    return context.wrap_socket(sock, server_hostname=host, session=saved)


def request(connection, host):
    connection.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    while connection.recv(4096):
        pass


def keep_one():
    """One session, that of the latest connection, offered to the next."""
    context, saved = new_context(), None
    for host in NAMES:
        connection = connect(context, host, saved)
        request(connection, host)
        saved = connection.session
        connection.close()


def keep_one_a_host():
    """What the remedies for the others say."""
    context, sessions = new_context(), {}
    for host in NAMES:
        connection = connect(context, host, sessions.get(host))
        request(connection, host)
        sessions[host] = connection.session
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


def never():
    context = new_context()
    for host in NAMES:
        connection = connect(context, host)
        request(connection, host)
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
    """Handshakes alone: the session is taken before the tickets are read."""
    context, saved = new_context(), None
    for host in NAMES:
        connection = connect(context, host, saved)
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


{
    "right": keep_one_a_host,
    "tls12": keep_one_a_host,
    "never": never,
    "rebuild": rebuild,
    "close-early": close_early,
    "reuse": reuse,
    "versions": versions,
    "one-for-all": keep_one,
}[WAY]()
