#!/usr/bin/env bash
# Expected: Bun's fetch with `tls: { rejectUnauthorized: false }`, or with a checkServerIdentity of its own, resumes sessions as fetch without them does.
# Whoever measures against a server with a self-signed certificate measures what production does.
# Happens: it never offers a session. node:https of the same Bun, with the same option, offers one on each connection after the first.
# Versions: Bun 1.4.5 (npm bun@1.4.5)
# Date: 2026-11-28
# Source: pull request 36598 of oven-sh/bun, by a test: "caches only verified sessions"; Bun's documentation of fetch does not say so.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages @oven/bun-linux-x64-baseline@1.4.5
bun=$(find "$tmp/node_modules" -path '*bin/bun' -type f | head -1)
[ -n "$bun" ] && chmod +x "$bun" || unavailable "the program of bun@1.4.5"
certificate b
cat >"$tmp/client.mjs" <<'JS'
import https from 'node:https';
const [way, port] = process.argv.slice(2);
const url = `https://localhost:${port}/`;
const agent = new https.Agent({ keepAlive: false, rejectUnauthorized: false });
const ways = {
    verified: () => fetch(url).then((answer) => answer.text()),
    unverified: () => fetch(url, { tls: { rejectUnauthorized: false } }).then((answer) => answer.text()),
    checked: () => fetch(url, { tls: { checkServerIdentity: () => undefined } }).then((answer) => answer.text()),
    https: () => new Promise((done) => https.get(url, { agent }, (answer) => answer.resume().on('end', done))),
};
for (let i = 0; i < 6; i++) {
    await ways[way]();
    await Bun.sleep(100);
}
JS
ask() {
    local port letters=$tmp/letters-$1
    port=$(free_port)
    serve "$port" python3 "$lib/server.py" "$port" "$tmp/b.pem" "$tmp/b.key" "$letters" 1.3
    : >"$letters"
    NODE_EXTRA_CA_CERTS=$tmp/b.pem "$bun" "$tmp/client.mjs" "$1" "$port"
    cat "$letters"
}
holds "fetch, which verifies" frrrrr "$(ask verified)"
holds "fetch, rejectUnauthorized: false" ffffff "$(ask unverified)"
holds "fetch, which verifies, checkServerIdentity given" ffffff "$(ask checked)"
holds "node:https, rejectUnauthorized: false" frrrrr "$(ask https)"
finish
