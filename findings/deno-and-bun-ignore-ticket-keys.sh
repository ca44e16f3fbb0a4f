#!/usr/bin/env bash
# Expected: two servers of node:https or node:tls with the same ticketKeys and sessionIdContext accept each other's tickets, in Deno and Bun as in Node.
# Happens: Deno and Bun take the option, throw no error, and ignore it: each server resumes its own tickets alone.
# Versions: Deno 2.9.6, Bun 1.4.5, Node 26.10.0 (npm); client: OpenSSL 3.0
# Date: 2026-11-28
# Source: Node's documentation of tls.createServer, ticketKeys. Pull request 33978 of denoland/deno takes it for granted that new servers use the option;
# 28691 of oven-sh/bun, still open, says that it is discarded.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages node@26.10.0 @deno/linux-x64-glibc@2.9.6 @oven/bun-linux-x64-baseline@1.4.5
node=$(find "$tmp/node_modules" -path '*bin/node' -type f -size +1M | head -1)
deno=$(find "$tmp/node_modules" -name deno -type f | head -1)
bun=$(find "$tmp/node_modules" -path '*bin/bun' -type f | head -1)
[ -n "$node" ] && [ -n "$deno" ] && [ -n "$bun" ] && chmod +x "$deno" "$bun" || unavailable "the programs of node, deno and bun"
certificate k
cat >"$tmp/server.mjs" <<'JS'
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import tls from 'node:tls';
import process from 'node:process';
const [tmp, module, port] = process.argv.slice(2);
const options = { key: readFileSync(`${tmp}/k.key`), cert: readFileSync(`${tmp}/k.pem`), ticketKeys: Buffer.alloc(48, 'k'), sessionIdContext: 'app' };
const server = module === 'https' ? https.createServer(options, (_, answer) => answer.end('x')) : tls.createServer(options, (socket) => {
    socket.on('error', () => {});
    socket.end('x');
});
server.listen(Number(port), '127.0.0.1');
JS
# What the server says of a connection: New or Reused.
connect() {
    (sleep 0.5; printf 'GET / HTTP/1.0\r\n\r\n'; sleep 0.5) | openssl s_client -connect "127.0.0.1:$1" "-$2" "${@:3}" 2>/dev/null |
        grep -oE '^(New|Reused)' | head -1
}
# A session of one server is offered to it, and one of its to another.
check() {
    local name=$1 expected=$2 module version one other && shift 2
    for module in https tls; do
        one=$(free_port) && serve "$one" "$@" "$tmp/server.mjs" "$tmp" "$module" "$one"
        other=$(free_port) && serve "$other" "$@" "$tmp/server.mjs" "$tmp" "$module" "$other"
        for version in tls1_2 tls1_3; do
            connect "$one" "$version" -sess_out "$tmp/session" >/dev/null
            holds "$name, node:$module, $version: same server, another" "Reused $expected" \
                "$(connect "$one" "$version" -sess_in "$tmp/session") $(connect "$other" "$version" -sess_in "$tmp/session")"
        done
    done
}
export DENO_DIR=$tmp/deno
check Node Reused "$node"
check Deno New "$deno" run --quiet --allow-all
check Bun New "$bun"
finish
