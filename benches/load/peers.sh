#!/usr/bin/env bash
# Client CPU for each completed connection, Reprise against its peers: nginx with one worker on one processor, the generators
# in turns on another. Medians of RUNS interleaved runs, and their ratios.
#
#   benches/load/peers.sh [path to reprise]
#
# Needs nginx and openssl; h2load and wrk take part where they are installed. RUNS (5) and SECONDS_EACH (5) may be set.
set -euo pipefail

reprise=${1:-target/release/reprise}
runs=${RUNS:-5}
seconds=${SECONDS_EACH:-5}
server_cpu=${SERVER_CPU:-0}
client_cpu=${CLIENT_CPU:-1}
work=$(mktemp -d)
nginx=

cleanup() {
    if [ -n "$nginx" ]; then kill "$nginx" 2>/dev/null || true; wait "$nginx" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap cleanup EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/p256.key" -out "$work/p256.pem" \
    -days 2 -subj /CN=localhost 2>/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/rsa.key" -out "$work/rsa.pem" -days 2 -subj /CN=localhost 2>/dev/null

p256=${P256_PORT:-28443}
rsa=${RSA_PORT:-28444}
server() {
    echo "server { listen 127.0.0.1:$1 ssl backlog=4096; ssl_certificate $work/$2.pem; ssl_certificate_key $work/$2.key;
        ssl_protocols TLSv1.2 TLSv1.3; location / { return 200 \"ok\\n\"; } }"
}
cat > "$work/nginx.conf" <<EOF
daemon off; master_process off; pid $work/nginx.pid; error_log stderr crit;
events { worker_connections 8192; }
http { access_log off; ssl_session_cache shared:peers:10m; keepalive_requests 1000000; server_tokens off;
$(server "$p256" p256)
$(server "$rsa" rsa)
}
EOF
taskset -c "$server_cpu" nginx -p "$work" -c "$work/nginx.conf" -e stderr &
nginx=$!
sleep 1

# Each prints: completed connections, user seconds, system seconds.
timed() { # the command's output goes to $work/out
    local before after
    /usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@" > "$0" 2>&1' "$work/out" taskset -c "$client_cpu" "$@" 2> "$work/time" || true
    tail -1 "$work/time"
}
run_reprise() { # version kind port suite
    local cpu n
    cpu=$(timed "$reprise" load "127.0.0.1:$3" --tls "$1" --mix "$2" --duration "${seconds}s" --ciphers "$4" --groups x25519 \
        --connections 32 --server-pid "$nginx" --json "$work/result.json")
    n=$(sed -n '/"completed": {/,/}/s/.*: \([0-9]*\),\{0,1\}$/\1/p' "$work/result.json" | paste -sd+ | bc)
    echo "$n $cpu"
    sed -n 's/.*"\(server\|client\)_busy": \([0-9.]*\).*/\1 \2/p' "$work/result.json" | paste -sd' ' >> "$work/busy"
}
run_s_time() { # version kind port suite
    local cpu n flag suites
    case $1 in 1.3) flag=-tls1_3; suites=-ciphersuites ;; *) flag=-tls1_2; suites=-cipher ;; esac
    local kind=-new
    [ "$2" = full ] || kind=-reuse
    cpu=$(timed openssl s_time -connect "127.0.0.1:$3" "$kind" -time "$seconds" "$flag" "$suites" "$4" -www / \
        -no-CAfile -no-CApath -no-CAstore)
    n=$(sed -n 's/^\([0-9]*\) connections in .* real seconds.*/\1/p' "$work/out" | tail -1)
    echo "${n:-0} $cpu"
}
run_h2load() { # version kind port suite: full only, one request each
    local cpu n
    cpu=$(timed h2load -n 20000 -c 32 -m 1 --h1 --connect-to="127.0.0.1:$3" --tls13-ciphers="$4" "https://127.0.0.1:$3/")
    n=$(sed -n 's/^requests: .* \([0-9]*\) succeeded.*/\1/p' "$work/out")
    echo "${n:-0} $cpu"
}
run_wrk() {
    local cpu n
    cpu=$(timed wrk -t1 -c32 -d "${seconds}s" -H 'Connection: close' "https://127.0.0.1:$3/")
    n=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$work/out")
    echo "${n:-0} $cpu"
}

median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
per_connection() { # file column(s): microseconds
    awk -v which="$2" '$1 > 0 { t = (which == "user") ? $2 : $2 + $3; print t * 1e6 / $1 }' "$1" | median
}

peers="s_time"
printf '%-6s %-8s %-8s %-8s %12s %12s %12s %12s\n' TLS key kind client 'user us' 'user+sys us' 'ratio user' 'ratio all'
for version in 1.3 1.2; do
    for key in p256 rsa; do
        port=$p256; suite12=ECDHE-ECDSA-AES128-GCM-SHA256
        [ $key = rsa ] && { port=$rsa; suite12=ECDHE-RSA-AES128-GCM-SHA256; }
        suite=$suite12; [ $version = 1.3 ] && suite=TLS_AES_128_GCM_SHA256
        for kind in full ticket; do
            here=$peers
            if [ $kind = full ]; then
                command -v h2load > /dev/null && [ $version = 1.3 ] && here="$here h2load"
                command -v wrk > /dev/null && here="$here wrk"
            fi
            rm -f "$work"/run.*
            : > "$work/busy"
            for _ in $(seq "$runs"); do
                for client in reprise $here; do
                    "run_$client" $version $kind $port $suite >> "$work/run.$client"
                done
            done
            our_user=$(per_connection "$work/run.reprise" user)
            our_all=$(per_connection "$work/run.reprise" all)
            for client in reprise $here; do
                user=$(per_connection "$work/run.$client" user)
                all=$(per_connection "$work/run.$client" all)
                printf '%-6s %-8s %-8s %-8s %12.1f %12.1f %12.1f %12.1f\n' $version $key $kind $client "$user" "$all" \
                    "$(echo "$user / $our_user" | bc -l)" "$(echo "$all / $our_all" | bc -l)"
            done
            echo "       busy: $(paste -sd';' "$work/busy")"
        done
    done
done
