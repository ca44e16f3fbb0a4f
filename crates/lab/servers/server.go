// An HTTPS server on Go's crypto/tls which says of each connection what crypto/tls says of it.
//
//	server PORT CERTIFICATE KEY LOWEST HIGHEST [no-tickets]
//
// It prints "listening", and for each connection "account PORT RESUMED VERSION CIPHER GROUP" before it answers.
package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"os"
	"reflect"
)

var versions = map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

const response = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"

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
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", arguments[0]))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	for {
		socket, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(socket, config)
	}
}

func serve(socket net.Conn, config *tls.Config) {
	connection := tls.Server(socket, config)
	defer connection.Close()
	if connection.Handshake() != nil {
		return
	}
	state := connection.ConnectionState()
	port := socket.RemoteAddr().(*net.TCPAddr).Port
	cipher := tls.CipherSuiteName(state.CipherSuite)
	fmt.Println("account", port, state.DidResume, versionName(state.Version), cipher, group(state))

	request := bufio.NewReader(connection)
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = request.ReadString('\n'); err != nil {
			return
		}
	}
	fmt.Fprint(connection, response)
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
