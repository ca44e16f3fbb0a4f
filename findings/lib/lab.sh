# What the findings share. A script sets `tmp` to a folder of its own and sources this file: packages are unpacked into that folder, servers
# listen on free loopback ports, and whatever was started is stopped at the end.
# Exit codes: 0 as stated, 1 the behaviour changed, 2 a package cannot be had.
set -uo pipefail
lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
leave() {
    local status=$?
    # A file, since a server may be started in a subshell.
    [ ! -e "$tmp/started" ] || xargs kill <"$tmp/started" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$tmp"
    exit "$status"
}
trap leave EXIT
unavailable() { echo "cannot be had: $*"; exit 2; }

# debian NAME=VERSION...: Debian packages, unpacked below $tmp/root.
debian() {
    local package
    (cd "$tmp" && apt-get download -qq "$@" >/dev/null 2>&1) || unavailable "$@"
    for package in "$tmp"/*.deb; do dpkg -x "$package" "$tmp/root"; done
}
# pypi NAME==VERSION...: Python packages below $tmp/python.
pypi() { pip install --quiet --disable-pip-version-check --target "$tmp/python" "$@" >/dev/null 2>&1 || unavailable "$@"; }
# npm_packages NAME@VERSION...: packages below $tmp/node_modules.
npm_packages() { npm install --silent --no-fund --no-audit --prefix "$tmp" "$@" >/dev/null 2>&1 || unavailable "$@"; }

# certificate NAME [KEY]: $tmp/NAME.pem and $tmp/NAME.key, self-signed for localhost; of that key where one is given.
certificate() {
    local key=${2:-$tmp/$1.key}
    [ -e "$key" ] || openssl ecparam -name prime256v1 -genkey -noout -out "$key"
    [ "$key" = "$tmp/$1.key" ] || cp "$key" "$tmp/$1.key"
    openssl req -x509 -key "$key" -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 30 -out "$tmp/$1.pem" 2>/dev/null
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# serve PORT COMMAND...: in the background, until it accepts connections.
serve() {
    local port=$1 && shift
    "$@" >"$tmp/server.log" 2>&1 &
    echo $! >>"$tmp/started"
    python3 - "$port" <<'PYTHON' || { cat "$tmp/server.log"; unavailable "a server that starts: $*"; }
import socket, sys, time
for _ in range(200):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close()
        break
    except OSError:
        time.sleep(0.05)
else:
    sys.exit(1)
PYTHON
}
# resume PORT [OPTION...]: see resume.py.
resume() { python3 "$lib/resume.py" "$@"; }
# holds NAME EXPECTED SEEN: says both; the script ends with 1 if one differs.
changed=0
holds() {
    printf '%-60s expected to see %s, saw %s\n' "$1" "$2" "$3"
    [ "$2" = "$3" ] || changed=1
}
finish() { exit "$changed"; }
