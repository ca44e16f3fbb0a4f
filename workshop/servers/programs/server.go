// An HTTPS server on Go's crypto/tls and net/http which says of each connection what crypto/tls says of it. It speaks
// HTTP/2 to whom ALPN says so.
//
//	server PORT CERTIFICATE KEY LOWEST HIGHEST [no-tickets]
//
// It prints "listening", and for each connection "account PORT RESUMED VERSION CIPHER GROUP" before it answers.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"sync/atomic"
	"syscall"
	"time"
)

var versions = map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

func main() {
	arguments := os.Args[1:]
	if len(arguments) < 5 {
		log.Fatal("usage: server PORT CERTIFICATE KEY LOWEST HIGHEST [no-tickets]")
	}
	identity, err := tls.LoadX509KeyPair(arguments[1], arguments[2])
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{
		Certificates:           []tls.Certificate{identity},
		MinVersion:             versions[arguments[3]],
		MaxVersion:             versions[arguments[4]],
		SessionTicketsDisabled: len(arguments) > 5 && arguments[5] == "no-tickets",
		NextProtos:             []string{"h2", "http/1.1"},
		Time:                   now,
	}
	// A test's own statements.
	current.Store(config)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", arguments[0]))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	served := &http.Server{
		Handler:   http.HandlerFunc(answer),
		TLSConfig: config,
		// Clients that break off are what tests do.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	log.Fatal(served.Serve(greeted(listener)))
}

// pool holds the certificates of a PEM file, for a test's own statements.
func pool(file string) *x509.CertPool {
	certificates, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificates)
	return pool
}

// issuedBy says whether a client's certificate, DER, is one of these authorities', for a test's own statements.
func issuedBy(authorities *x509.CertPool, leaf []byte) error {
	certificate, err := x509.ParseCertificate(leaf)
	if err == nil {
		usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		_, err = certificate.Verify(x509.VerifyOptions{Roots: authorities, KeyUsages: usages})
	}
	return err
}

// current is what the next connection is served by.
var current atomic.Pointer[tls.Config]

// rebuildOnHangup makes a new tls.Config at each SIGHUP, as servers do that read their certificates again, for a test's own
// statements. Keys that config did not set are made anew.
func rebuildOnHangup(config *tls.Config) {
	unused := config.Clone()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			current.Store(unused.Clone())
		}
	}()
}

// ahead is by how much the server's clock is wrong, for a test's own statements.
var ahead time.Duration

func now() time.Time {
	return time.Now().Add(ahead)
}

func answer(response http.ResponseWriter, request *http.Request) {
	response.Header().Set("Content-Type", "text/plain")
	response.Header().Set("Date", now().UTC().Format(http.TimeFormat))
	if request.ProtoMajor == 1 {
		response.Header().Set("Connection", "close")
	}
	fmt.Fprintln(response, "ok")
}

// handshaken hands on connections whose handshake is done and told of, whether or not a request follows.
type handshaken struct {
	net.Listener
	connections chan net.Conn
}

func (from handshaken) Accept() (net.Conn, error) {
	return <-from.connections, nil
}

func greeted(listener net.Listener) net.Listener {
	connections := make(chan net.Conn)
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go func() {
				connection := tls.Server(socket, current.Load())
				if connection.Handshake() != nil {
					connection.Close()
					return
				}
				tell(connection)
				connections <- connection
			}()
		}
	}()
	return handshaken{listener, connections}
}

func tell(connection *tls.Conn) {
	state := connection.ConnectionState()
	port := connection.RemoteAddr().(*net.TCPAddr).Port
	cipher := tls.CipherSuiteName(state.CipherSuite)
	fmt.Println("account", port, state.DidResume, versionName(state.Version), cipher, group(state))
}

func versionName(version uint16) string {
	for name, candidate := range versions {
		if candidate == version {
			return name
		}
	}
	return "-"
}

// group is the key exchange's, which Go tells since 1.25; this program builds with older ones too.
func group(state tls.ConnectionState) string {
	field := reflect.ValueOf(state).FieldByName("CurveID")
	if !field.IsValid() || field.IsZero() {
		return "-"
	}
	return fmt.Sprint(field.Interface())
}
