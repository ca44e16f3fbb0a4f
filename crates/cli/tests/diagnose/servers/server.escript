%% An HTTPS server on Erlang's ssl: one response on each connection, then its end.
main(_) ->
    {ok, _} = application:ensure_all_started(ssl),
    Options = [{ip, {127, 0, 0, 1}}, {reuseaddr, true}, {active, false}, binary,
               {certfile, "CERTIFICATE"}, {keyfile, "KEY"}, OPTIONS],
    {ok, Listener} = ssl:listen(PORT, Options),
    serve(Listener).

serve(Listener) ->
    {ok, Socket} = ssl:transport_accept(Listener),
    Guest = spawn(fun() -> receive begin_now -> handshake(Socket) end end),
    ok = ssl:controlling_process(Socket, Guest),
    Guest ! begin_now,
    serve(Listener).

handshake(Socket) ->
    case ssl:handshake(Socket) of
        {ok, Connection} -> answer(Connection, <<>>);
        {error, _} -> ok
    end.

answer(Connection, Heard) ->
    case ssl:recv(Connection, 0) of
        {ok, More} ->
            Request = <<Heard/binary, More/binary>>,
            case binary:match(Request, <<"\r\n\r\n">>) of
                nomatch -> answer(Connection, Request);
                _ ->
                    ok = ssl:send(Connection, <<"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n">>),
                    ssl:close(Connection)
            end;
        {error, _} -> ok
    end.
