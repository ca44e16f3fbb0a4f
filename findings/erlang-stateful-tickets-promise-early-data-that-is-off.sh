#!/usr/bin/env bash
# Expected: tickets of an Erlang server with {session_tickets, stateful} and without {early_data, enabled}, the default, carry no early_data extension:
# RFC 9846, section 4.7.1, says that it permits early data and how much.
# Happens: each allows 16,384 bytes, so that a client sends its request as early data, and the server rejects it every time.
# Versions: Erlang/OTP 25.2.3 (Debian 1:25.2.3+dfsg-1+deb12u4); client: OpenSSL 3.0
# Date: 2026-11-28
# Source: Erlang's documentation of ssl, early_data: "Default: disabled".
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
version=1:25.2.3+dfsg-1+deb12u4
debian erlang-base=$version erlang-crypto=$version erlang-public-key=$version erlang-ssl=$version erlang-asn1=$version
root=$tmp/root/usr/lib/erlang
sed -i "s#/usr/lib/erlang#$root#" "$root/bin/erl" "$root"/erts-*/bin/erl
certificate e
port=$(free_port)
cat >"$tmp/server.erl" <<'ERLANG'
-module(server).
-export([run/2]).
run(Folder, Port) ->
    {ok, _} = application:ensure_all_started(ssl),
    {ok, Listening} = ssl:listen(Port, [{ip, {127, 0, 0, 1}}, {certfile, Folder ++ "/e.pem"}, {keyfile, Folder ++ "/e.key"},
        {versions, ['tlsv1.3']}, {session_tickets, stateful}, {active, false}, {reuseaddr, true}]),
    accept(Listening).
accept(Listening) ->
    {ok, Accepted} = ssl:transport_accept(Listening),
    spawn(fun() -> case ssl:handshake(Accepted, 5000) of {ok, _} -> timer:sleep(3000); _ -> ok end end) ,
    accept(Listening).
ERLANG
(cd "$tmp" && "$root/bin/erlc" server.erl) || unavailable "a compiler of Erlang"
HOME=$tmp serve "$port" "$root/bin/erl" -noshell -pa "$tmp" -eval "server:run(\"$tmp\", $port)"
allowed=$( (sleep 1) | openssl s_client -connect "127.0.0.1:$port" -tls1_3 2>/dev/null | sed -n 's/ *Max Early Data: *//p' | tail -1)
holds "early data that a ticket allows, in bytes" 16384 "$allowed"
finish
