"""Requests of the library that the first argument names, each as a call of the module.

    requests_client.py requests|httpx CA URL
"""

import sys

LIBRARY, CA, URL = sys.argv[1:]


def with_requests():
    import requests

    session = requests
    for _ in range(4):
        session.get(URL, verify=CA)


def with_httpx():
    import httpx

    client = httpx
    for _ in range(4):
        client.get(URL)


{"requests": with_requests, "httpx": with_httpx}[LIBRARY]()
