#!/usr/bin/env bash
# Expected: Bun's fetch resumes TLS 1.2 sessions as it does those of TLS 1.3, on each connection after the first.
# Happens: under TLS 1.3 each one resumes, under TLS 1.2 each second: after a resumed connection nothing is offered.
# Versions: Bun 1.4.5 (npm bun@1.4.5)
# Date: 2026-11-28
# Source: run here.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
npm_packages @oven/bun-linux-x64-baseline@1.4.5
bun=$(find "$tmp/node_modules" -path '*bin/bun' -type f | head -1)
[ -n "$bun" ] && chmod +x "$bun" || unavailable "the program of bun@1.4.5"
certificate b
fetch() {
    local port letters=$tmp/letters-$1
    port=$(free_port)
    serve "$port" python3 "$lib/server.py" "$port" "$tmp/b.pem" "$tmp/b.key" "$letters" "$1"
    : >"$letters"
    NODE_EXTRA_CA_CERTS=$tmp/b.pem "$bun" -e 'for (let i = 0; i < 6; i++) { await (await fetch(`https://localhost:'"$port"'/`)).text(); await Bun.sleep(100); }'
    cat "$letters"
}
holds "TLS 1.3" frrrrr "$(fetch 1.3)"
holds "TLS 1.2" frfrfr "$(fetch 1.2)"
finish
