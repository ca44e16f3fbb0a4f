#!/usr/bin/env bash
# Expected: `uvicorn --workers 2` answers as fast as `uvicorn` with one process does.
# Happens: with --workers (and with --fd) each answer comes some 40 ms later, over TLS: the socket is made by uvicorn itself instead of asyncio, its
# connections are without TCP_NODELAY, header and body leave in two writes, and Nagle's algorithm holds the second until the first is acknowledged.
# Versions: uvicorn 0.54.0, Python 3.11, Linux
# Date: 2026-11-28
# Source: asyncio sets TCP_NODELAY where it knows that the protocol of a socket is TCP (base_events, selector_events).
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
pypi uvicorn==0.54.0 h11==0.16.0 click==8.1.8
certificate u
cat >"$tmp/app.py" <<'PY'
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        await send({"type": "http.response.body", "body": b"x"})
PY
# The median wait of eight requests on one connection under TLS 1.2: at least 30 ms, or not.
late() {
    local port
    port=$(free_port)
    serve "$port" env PYTHONPATH="$tmp/python:$tmp" python3 -m uvicorn app:app --host 127.0.0.1 --port "$port" --log-level error --http h11 \
        --ssl-certfile "$tmp/u.pem" --ssl-keyfile "$tmp/u.key" "$@"
    resume "$port" --tls 1.2 --count 1 --requests 9 --waits | cut -d' ' -f2 |
        python3 -c 'import statistics; print("late" if statistics.median(map(int, input().split(",")[1:])) >= 30 else "at once")'
}
holds "one process" "at once" "$(late)"
holds "--workers 2" "late" "$(late --workers 2)"
finish
