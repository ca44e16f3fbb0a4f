#!/usr/bin/env bash
# Expected: an Agent of undici, and so fetch of Node, keeps TLS sessions of an origin as long as the Agent lives, as undici 6 does in Node 20.
# Happens: undici 8 drops the pool of an origin once its last connection has closed, and the pool's sessions with it. Requests that follow at once
# resume; after a pause each is a full handshake. A connector that outlives the pool, `new Agent({ connect: buildConnector({}) })`, keeps them.
# Versions: undici 8.13.1 and 6.24.1, on Node 26.10.0 (npm)
# Date: 2026-11-28
# Source: run here; undici's documentation of maxCachedSessions says nothing of pools that end.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages node@26.10.0 new@npm:undici@8.13.1 old@npm:undici@6.24.1
node=$(find "$tmp/node_modules" -path '*bin/node' -type f -size +1M | head -1)
[ -n "$node" ] || unavailable "the program of node@26.10.0"
certificate u
cat >"$tmp/client.js" <<'JS'
const [tmp, name, connector, pause] = process.argv.slice(2);
const { readFileSync } = require('fs');
const { Agent, buildConnector, request } = require(`${tmp}/node_modules/${name}`);
const tls = { key: readFileSync(`${tmp}/u.key`), cert: readFileSync(`${tmp}/u.pem`), maxVersion: 'TLSv1.3', minVersion: 'TLSv1.3' };
let letters = '';
const server = require('https').createServer(tls, (_, answer) => {
    answer.writeHead(200, { connection: 'close' });
    answer.end('x');
});
server.on('secureConnection', (socket) => { letters += socket.isSessionReused() ? 'r' : 'f'; });
server.listen(0, '127.0.0.1', async () => {
    const trust = { rejectUnauthorized: false };
    const dispatcher = new Agent({ connect: connector === 'kept' ? buildConnector(trust) : trust });
    for (let i = 0; i < 5; i++) {
        const { body } = await request(`https://localhost:${server.address().port}/`, { dispatcher });
        await body.text();
        await new Promise((resolve) => setTimeout(resolve, Number(pause)));
    }
    console.log(letters);
    process.exit();
});
JS
run() { "$node" "$tmp/client.js" "$tmp" "$@"; }
holds "undici 6, a pause of 300 ms after each" frrrr "$(run old own 300)"
holds "undici 8, a pause of 300 ms after each" fffff "$(run new own 300)"
holds "undici 8, a connector of its own, a pause of 300 ms" frrrr "$(run new kept 300)"
finish
