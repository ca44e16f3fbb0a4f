#!/usr/bin/env bash
# Expected: curl keeps TLS sessions within a run, so the second of two connections to one server resumes, under TLS 1.2 as under 1.3, by
# ticket or by session ID, whichever the server gives.
# Happens: curl sends no session_ticket extension. Under TLS 1.2 it resumes by session ID alone, and never at servers that give tickets and no
# IDs, as Node's do; s_client, on the same library, resumes there. TLS 1.3 is not affected.
# Versions: libcurl 8.23.0 with OpenSSL 3.6.5 (pycurl 7.49.0), Node 26.10.0 (npm)
# Date: 2026-11-29
# Source: run here; curl's documentation of CURLOPT_SSL_SESSIONID_CACHE names no version of TLS and no kind of session.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
pypi pycurl==7.49.0
npm_packages node@26.10.0
node=$(find "$tmp/node_modules" -path '*bin/node' -type f -size +1M | head -1)
[ -n "$node" ] || unavailable "the program of node@26.10.0"
certificate c
cat >"$tmp/server.js" <<'JS'
const [tmp, port, version, letters] = process.argv.slice(2);
const { readFileSync, appendFileSync } = require('fs');
const tls = { key: readFileSync(`${tmp}/c.key`), cert: readFileSync(`${tmp}/c.pem`), minVersion: version, maxVersion: version };
const server = require('https').createServer(tls, (_, answer) => {
    answer.writeHead(200, { connection: 'close' });
    answer.end('x');
});
server.on('secureConnection', (socket) => appendFileSync(letters, socket.isSessionReused() ? 'r' : 'f'));
server.listen(Number(port), '127.0.0.1');
JS
cat >"$tmp/client.py" <<'PYTHON'
import sys, pycurl
curl = pycurl.Curl()
for _ in range(4):
    curl.setopt(curl.URL, sys.argv[1])
    curl.setopt(curl.CAINFO, sys.argv[2])
    curl.setopt(curl.WRITEFUNCTION, lambda data: None)
    curl.perform()
PYTHON
# Each client against a server of its own: the letters of its connections.
seen() {
    local version=$1 letters=$tmp/letters-$2-$1 port
    port=$(free_port)
    : >"$letters"
    serve "$port" "$node" "$tmp/server.js" "$tmp" "$port" "$version" "$letters"
    if [ "$2" = curl ]; then
        PYTHONPATH=$tmp/python python3 "$tmp/client.py" "https://localhost:$port/" "$tmp/c.pem"
    else
        local request='GET / HTTP/1.0\r\n\r\n'
        printf "$request" | openssl s_client -connect "localhost:$port" -sess_out "$tmp/session" -ign_eof >/dev/null 2>&1
        printf "$request" | openssl s_client -connect "localhost:$port" -sess_in "$tmp/session" -ign_eof >/dev/null 2>&1
    fi
    cat "$letters"
}
# Node gives two tickets on a full connection and none on a resumed one.
holds "curl, TLS 1.3" frrf "$(seen TLSv1.3 curl)"
holds "curl, TLS 1.2, four connections" ffff "$(seen TLSv1.2 curl)"
holds "openssl s_client, TLS 1.2" fr "$(seen TLSv1.2 s_client)"
finish
