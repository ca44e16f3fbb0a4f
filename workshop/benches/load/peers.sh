#!/usr/bin/env bash
# Client CPU for each connection, Reprise against its peers: nginx with one worker on one processor, the generators in turns
# on another. Medians of RUNS interleaved runs, and their ratios.
#
#   workshop/benches/load/peers.sh [path to reprise]
#
# Needs nginx and openssl; h2load (Debian: nghttp2-client) and wrk take part where they are installed. RUNS (5),
# SECONDS_EACH (5), SERVER_CPU (0), CLIENT_CPU (1), FIRST_PORT (28443) and ONLY may be set: those of the eight rows to run, as
# in ONLY="1.3-p256-ticket 1.2-rsa-full".
#
# Same for all: suite, group, one GET for "/" on each connection, answered with three bytes; then the connection ends.
# What differs: s_time speaks HTTP/1.0 and sends no Host, so that nginx closes, as it does for wrk and h2load; Reprise closes
# itself, with a reset, once the response is whole. wrk and h2load decide themselves whether to resume.
# What counts is what nginx logged: `as asked` is the share of the kind that was asked for, and without nearly all of them a
# row has no ratio, for it is of something else. Below each scenario stands whether the goals hold: the server over 95 % of
# its processor, Reprise below 60 % of its own for full handshakes and within its share of what the peer needs. Exit status 1:
# one was missed.
set -euo pipefail
export LC_ALL=C PATH="$PATH:/usr/sbin"

reprise=${1:-target/release/reprise}
runs=${RUNS:-5}
seconds=${SECONDS_EACH:-5}
server_cpu=${SERVER_CPU:-0}
client_cpu=${CLIENT_CPU:-1}
first_port=${FIRST_PORT:-28443}
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

port_of() { # version key: a port for each, so that no client has a choice
    case $1-$2 in 1.3-p256) echo "$first_port" ;; 1.3-rsa) echo $((first_port + 1)) ;;
        1.2-p256) echo $((first_port + 2)) ;; *) echo $((first_port + 3)) ;; esac
}
server() { # version key
    echo "server { listen 127.0.0.1:$(port_of "$1" "$2") ssl backlog=4096; ssl_protocols TLSv$1;
        ssl_certificate $work/$2.pem; ssl_certificate_key $work/$2.key; location / { return 200 \"ok\\n\"; } }"
}
cat > "$work/nginx.conf" <<END
daemon off; master_process off; pid $work/nginx.pid; error_log stderr crit;
events { worker_connections 8192; }
http { log_format kind '\$ssl_session_reused'; access_log $work/log kind buffer=64k flush=200ms;
ssl_session_cache shared:peers:10m; server_tokens off;
ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
$(server 1.3 p256) $(server 1.3 rsa) $(server 1.2 p256) $(server 1.2 rsa) }
END
taskset -c "$server_cpu" nginx -p "$work" -c "$work/nginx.conf" -e stderr &
nginx=$!
until (exec 3<> "/dev/tcp/127.0.0.1/$first_port") 2> "$work/no"; do kill -0 "$nginx"; done

# Runs a client pinned; its output goes to $work/out. Prints user and system seconds.
timed() {
    bash -c 'TIMEFORMAT="%U %S"; time "$@" > "$0" 2>&1' "$work/out" taskset -c "$client_cpu" "$@" 2> "$work/time" || true
    tail -1 "$work/time"
}
run_reprise() { # version kind port suite
    timed "$reprise" load "127.0.0.1:$3" --tls "$1" --mix "$2" --duration "${seconds}s" --ciphers "$4" --groups x25519 \
        --connections 32 --server-pid "$nginx" --json "$work/result.json"
    sed -n 's/.*"\(server\|client\)_busy": \([0-9.]*\).*/\1 \2/p' "$work/result.json" >> "$work/busy"
}
run_s_time() { # version kind port suite
    local kind=-new version=-tls1_2
    [ "$2" = full ] || kind=-reuse
    [ "$1" = 1.2 ] || version=-tls1_3
    timed openssl s_time -connect "127.0.0.1:$3" "$kind" -time "$seconds" "$version" -www / -no-CAfile -no-CApath -no-CAstore
}
run_h2load() { # as many connections as requests, since it closes none before its last request
    timed h2load -n 2000 -c 2000 -t 1 -m 1 --h1 --groups=X25519:P-256 -H 'Connection: close' "https://127.0.0.1:$3/"
}
run_wrk() {
    timed wrk -t1 -c32 -d "${seconds}s" -H 'Connection: close' "https://127.0.0.1:$3/"
}
# Prints: connections of the kind that was asked for, all connections, user seconds, system seconds.
witnessed() { # client version kind port suite
    local from cpu mark=r
    [ "$3" = full ] && mark=.
    from=$(wc -c < "$work/log")
    cpu=$("run_$1" "$2" "$3" "$4" "$5")
    # nginx writes what it has buffered after 200 ms; what the client has not waited for is served until then.
    sleep 1
    tail -c "+$((from + 1))" "$work/log" | awk -v asked="$mark" -v cpu="$cpu" \
        '{ all++; if ($1 == asked) n++ } END { print n + 0, all + 0, cpu }'
}

median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
per_connection() { # file column(s): microseconds
    awk -v which="$2" '$2 > 0 { print ((which == "user") ? $3 : $3 + $4) * 1e6 / $2 }' "$1" | median
}
least() { # so far, share as asked, theirs, ours: the smaller ratio, of peers that made what was asked for
    awk -v least="$1" -v asked="$2" -v ratio="$3 $4" 'BEGIN { split(ratio, of, " "); r = of[2] > 0 ? of[1] / of[2] : 1000;
        print (asked > 98 && r < least) ? r : least }'
}
busy() { sed -n "s/^$1 //p" "$work/busy" | median | awk '{ printf "%.1f", $1 * 100 }'; }

# Prints whether a goal holds: words, then a condition over numbers.
goal() {
    if awk "BEGIN { exit !($2) }"; then echo "     holds:  $1"; else echo "     MISSED: $1" && missed=1; fi
}
goals() { # version kind: of the scenario that has just run
    goal "server over 95 % of its processor ($(busy server) %)" "$(busy server) >= 95"
    case $1-$2 in
        1.3-full) goal "at most 1/6 of s_time's processor time" "$best_all >= 6 && $best_all < 1000"
            goal "at most 1/20 of it in the program" "$best_user >= 20 && $best_user < 1000" ;;
        1.3-ticket) goal "at most 1/4 of s_time's processor time" "$best_all >= 4 && $best_all < 1000" ;;
        1.2-ticket) goal "no more than the best peer's" "$best_all >= 1 && $best_all < 1000" ;;
    esac
    [ "$2" != full ] || goal "Reprise below 60 % of its processor ($(busy client) %)" "$(busy client) < 60"
}

missed=
clients="reprise s_time"
for peer in h2load wrk; do
    if command -v $peer > /dev/null; then clients="$clients $peer"; else echo "not installed: $peer"; fi
done
printf '%-4s %-5s %-7s %-8s %9s %9s %12s %11s %10s\n' TLS key kind client 'as asked' 'user us' 'user+sys us' 'ratio user' 'ratio all'
for version in 1.3 1.2; do
    for key in p256 rsa; do
        port=$(port_of $version $key)
        suite=TLS_AES_128_GCM_SHA256
        [ $version = 1.3 ] || { suite=ECDHE-ECDSA-AES128-GCM-SHA256; [ $key = p256 ] || suite=ECDHE-RSA-AES128-GCM-SHA256; }
        for kind in full ticket; do
            case " ${ONLY:-$version-$key-$kind} " in *" $version-$key-$kind "*) ;; *) continue ;; esac
            rm -f "$work"/run.* "$work/busy"
            for _ in $(seq "$runs"); do
                for client in $clients; do
                    witnessed "$client" $version $kind "$port" $suite >> "$work/run.$client"
                done
            done
            for client in $clients; do
                asked=$(awk '$2 > 0 { print $1 / $2 * 100 }' "$work/run.$client" | median)
                user=$(per_connection "$work/run.$client" user)
                all=$(per_connection "$work/run.$client" all)
                if [ "$client" = reprise ]; then
                    our_user=$user our_all=$all best_user=1000 best_all=1000 # more than any: none yet
                elif [ "$client" = s_time ] || [ "$version-$kind" = 1.2-ticket ]; then
                    best_user=$(least "$best_user" "$asked" "$user" "$our_user")
                    best_all=$(least "$best_all" "$asked" "$all" "$our_all")
                fi
                echo "$version $key $kind $client ${asked:-0} ${user:-0} ${all:-0} $our_user $our_all" | awk '{
                    printf "%-4s %-5s %-7s %-8s %7.1f %% %9.1f %12.1f", $1, $2, $3, $4, $5, $6, $7
                    if ($5 > 98) printf " %11.1f %10.1f\n", $6 / $8, $7 / $9; else printf " %11s %10s\n", "-", "-" }'
            done
            echo "     server $(busy server) % of its processor, Reprise $(busy client) % of its own"
            goals $version $kind
        done
    done
done
[ -z "$missed" ]
