/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ESP8266 core's HTTPS server with the session cache: what Reprise adds are the lines marked with <--. */
#include <ESP8266WiFi.h>
#include <reprise/esp8266.h> // <--

extern const char certificate_pem[], key_pem[]; // in another tab: your own

BearSSL::WiFiServerSecure server(443);
reprise::CachedSessions<8> sessions(300); // <-- eight sessions, which live five minutes

void setup() {
  WiFi.begin("network", "password");
  while (WiFi.status() != WL_CONNECTED) {
    delay(100);
  }
  server.setECCert(new BearSSL::X509List(certificate_pem), BR_KEYTYPE_EC, new BearSSL::PrivateKey(key_pem));
  server.setCache(&sessions); // <--
  server.begin();
}

void loop() {
  WiFiClient client = server.accept();
  if (!client) {
    return;
  }
  if (client.find("\r\n\r\n")) {
    client.print("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nHello\n");
  }
  client.stop();
}
