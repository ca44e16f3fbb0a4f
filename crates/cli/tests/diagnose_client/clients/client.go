// Connections of Go's net/http, right or wrong in the way that the first argument says.
//
//	client WAY CA ADDRESS PORT NAME...
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

var way, address, port = os.Args[1], os.Args[3], os.Args[4]
var names = os.Args[5:]

func main() {
	pem, err := os.ReadFile(os.Args[2])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := func(cache tls.ClientSessionCache) *http.Client {
		config := &tls.Config{RootCAs: roots, ClientSessionCache: cache}
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, net.JoinHostPort(address, port))
		}
		return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DialContext: dial, DisableKeepAlives: true}}
	}
	switch way {
	case "right":
		all(client(tls.NewLRUClientSessionCache(64)))
	case "no-cache":
		all(client(nil))
	case "cache-of-one":
		all(client(tls.NewLRUClientSessionCache(1)))
	case "rebuild":
		for _, name := range names {
			get(client(tls.NewLRUClientSessionCache(64)), name)
		}
	case "at-once":
		shared := client(tls.NewLRUClientSessionCache(64))
		get(shared, names[0])
		var group sync.WaitGroup
		for _, name := range names {
			group.Add(1)
			go func() {
				defer group.Done()
				get(shared, name)
			}()
		}
		group.Wait()
	}
}

func all(client *http.Client) {
	for _, name := range names {
		get(client, name)
	}
}

func get(client *http.Client, name string) {
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
