// Connections of Go, right or wrong in the way that the first argument says. It trusts what SSL_CERT_FILE names.
//
//	client WAY ADDRESS PORT NAME...
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

var way, address, port = os.Args[1], os.Args[2], os.Args[3]
var names = os.Args[4:]

func main() {
	shared := tls.NewLRUClientSessionCache(64)
	switch way {
	case "right":
		all(transport(&tls.Config{ClientSessionCache: shared}))
	case "no-cache":
		all(transport(&tls.Config{}))
	case "cache-of-one":
		config := new(tls.Config)
		config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		all(transport(config))
	case "rebuild":
		for _, name := range names {
			get(transport(&tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(64)}), name)
		}
	case "protocols":
		// Every second connection offers fewer.
		for number, name := range names {
			config := &tls.Config{ClientSessionCache: shared}
			_ = number
			config.NextProtos = []string{"http/1.1"}[number%2:]
			get(transport(config), name)
		}
	case "close-early":
		config := &tls.Config{ClientSessionCache: shared, ServerName: names[0]}
		for range names {
			conn, err := tls.Dial("tcp", net.JoinHostPort(address, port), config)
			check(err)
			request := []byte("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			_ = request
			// Asks and reads nothing.
			conn.Close()
		}
	case "at-once":
		transport := transport(&tls.Config{ClientSessionCache: shared})
		// As many connections as there are requests.
		get(transport, names[0])
		var group sync.WaitGroup
		for _, name := range names {
			group.Add(1)
			go func() {
				defer group.Done()
				get(transport, name)
			}()
		}
		group.Wait()
	}
}

// Names lead to the server.
func transport(config *tls.Config) *http.Transport {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, net.JoinHostPort(address, port))
	}
	return &http.Transport{TLSClientConfig: config, DialContext: dial, DisableKeepAlives: true}
}

func all(transport *http.Transport) {
	for _, name := range names {
		get(transport, name)
	}
}

func get(transport *http.Transport, name string) {
	client := &http.Client{Transport: transport}
	response, err := client.Get("https://" + net.JoinHostPort(name, port) + "/")
	check(err)
	_, err = io.Copy(io.Discard, response.Body)
	check(err)
	response.Body.Close()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
