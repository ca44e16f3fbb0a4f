// A TLS server of Go's standard library, for the tests of unit key shares: it prints its address, and answers every
// request with the version, the group and whether the session was resumed.
package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%x %v %v\n", r.TLS.Version, r.TLS.CurveID, r.TLS.DidResume)
	})
	_ = http.Serve(tls.NewListener(listener, config), handler)
}
