#!/usr/bin/env bash
# Expected: sessions of a Node server live 300 s: "sessionTimeout: The number of seconds after which a TLS session created by the server will no
# longer be resumable. Default: 300", says the documentation of tls.createServer.
# Happens: without sessionTimeout the tickets state 7200 s, OpenSSL's own default. And a resumed TLS 1.3 connection brings no new ticket, so that a client
# which uses each ticket once resumes only as often as the first connection gave tickets.
# Versions: Node 26.10.0 (npm node@26.10.0, OpenSSL 3.5.8)
# Date: 2026-11-28
# Source: Node's documentation, tls.createServer.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages node@26.10.0
certificate n
cat >"$tmp/server.js" <<'JS'
const [tmp, port, extra] = process.argv.slice(2);
const { readFileSync } = require('fs');
const options = { key: readFileSync(`${tmp}/n.key`), cert: readFileSync(`${tmp}/n.pem`), ...JSON.parse(extra) };
require('https').createServer(options, (_, answer) => answer.end('x')).listen(port, '127.0.0.1');
JS
node=$(find "$tmp/node_modules" -path '*bin/node' -type f -size +1M | head -1)
[ -n "$node" ] || unavailable "the program of node@26.10.0"
port=$(free_port)
serve "$port" "$node" "$tmp/server.js" "$tmp" "$port" '{}'
holds "nothing set" "fr lifetime=7200" "$(resume "$port" --count 2 --tickets)"
tickets=$(for id in 1 2; do (sleep 1) | openssl s_client -connect "127.0.0.1:$port" -tls1_3 $([ $id = 1 ] && echo -sess_out || echo -sess_in) "$tmp/s" 2>&1 | grep -c 'Post-Handshake New Session Ticket arrived'; done | paste -sd' ')
holds "tickets on a full and on a resumed connection" "2 0" "$tickets"
port=$(free_port)
serve "$port" "$node" "$tmp/server.js" "$tmp" "$port" '{"sessionTimeout":300}'
holds "sessionTimeout: 300" "fr lifetime=300" "$(resume "$port" --count 2 --tickets)"
finish
