#!/usr/bin/env bash
# Expected: LWP::UserAgent with one SSL context and a session cache (SSL_session_cache_size) resumes each connection after the first, or none.
# Happens: under TLS 1.3 each second one; under TLS 1.2 none, against a server that resumes every session it is offered.
# Versions: LWP 6.68, LWP::Protocol::https 6.10, IO::Socket::SSL 2.081, Net::SSLeay 1.92 (Debian 12), OpenSSL 3.0
# Date: 2026-11-28
# Source: IO::Socket::SSL's documentation of SSL_session_cache_size.
tmp=$(mktemp -d) && . "$(dirname "$0")/lib/lab.sh"
debian libwww-perl=6.68-1 liblwp-protocol-https-perl=6.10-1 libio-socket-ssl-perl=2.081-2 libnet-ssleay-perl=1.92-2+b1 libnet-http-perl libhttp-message-perl \
    libhttp-date-perl libhtml-parser-perl liburi-perl libio-html-perl liblwp-mediatypes-perl libencode-locale-perl libtry-tiny-perl libtimedate-perl \
    libhttp-cookies-perl libhttp-negotiate-perl libfile-listing-perl libwww-robotrules-perl libhtml-tagset-perl libhtml-tree-perl libclone-perl
export PERL5LIB="$tmp/root/usr/share/perl5:$tmp/root/usr/lib/x86_64-linux-gnu/perl5/5.36"
certificate p
fetch() {
    local port letters=$tmp/letters-$1
    port=$(free_port) && : >"$letters"
    serve "$port" python3 "$lib/server.py" "$port" "$tmp/p.pem" "$tmp/p.key" "$letters" "$1"
    : >"$letters"
    perl -e '
        use LWP::UserAgent;
        use IO::Socket::SSL;
        my $context = IO::Socket::SSL::SSL_Context->new(SSL_verify_mode => 0, SSL_session_cache_size => 10);
        my $agent = LWP::UserAgent->new(ssl_opts => { verify_hostname => 0, SSL_verify_mode => 0, SSL_reuse_ctx => $context });
        $agent->get("https://localhost:$ARGV[0]/") for 1 .. 6;' "$port"
    cat "$letters"
}
holds "TLS 1.3" frfrfr "$(fetch 1.3)"
holds "TLS 1.2" ffffff "$(fetch 1.2)"
finish
