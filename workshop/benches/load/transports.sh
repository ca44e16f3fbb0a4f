#!/usr/bin/env bash
# Client CPU for each connection's system calls under epoll and under io_uring, with a socket for each connection and with
# sockets that are disconnected and reused, in turns: medians of RUNS and their ratios to the first.
#
#   workshop/benches/load/transports.sh
#
# Needs a C compiler and liburing (Debian: liburing-dev), and Linux 6.7. RUNS (7), CONNECTIONS (20000), SERVER_CPU (0) and
# CLIENT_CPU (1) may be set. Without work the peer answers at once and events come in batches; with 100 us of it, as for a
# signature, most come alone. Exit status 2: the kernel refuses io_uring.
set -euo pipefail
export LC_ALL=C

runs=${RUNS:-7}
connections=${CONNECTIONS:-20000}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O2 -Wall -Wextra -o "$work/transports" "$here/transports.c" -luring

median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

printf '%-12s %-15s %9s %12s %6s  %s\n' 'peer works' transport 'user us' 'user+sys us' ratio 'least and most'
transports="epoll epoll-reused io_uring io_uring-reused"
for peer_us in 0 30 100; do
    for _ in $(seq "$runs"); do
        for transport in $transports; do
            "$work/transports" "$transport" "$connections" $peer_us "${CLIENT_CPU:-1}" "${SERVER_CPU:-0}" \
                >> "$work/$transport.$peer_us"
        done
    done
    for transport in $transports; do
        file=$work/$transport.$peer_us
        all=$(awk '{ print $2 }' "$file" | median)
        [ "$transport" != epoll ] || epoll=$all
        range=$(awk '{ print $2 }' "$file" | sort -g | sed -n '1p;$p' | paste -sd ' ')
        user=$(awk '{ print $1 }' "$file" | median)
        echo "$peer_us $transport $user $all $epoll $range" |
            awk '{ printf "%-12s %-15s %9.1f %12.1f %6.2f  %s %s\n", $1 " us", $2, $3, $4, $4 / $5, $6, $7 }'
    done
done
