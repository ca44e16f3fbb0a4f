/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An HTTPS server on a Raspberry Pi Pico W: two clients at a time, and eight sessions, which live five minutes. */
#include <stdlib.h>
#include <string.h>

#include "credentials.h" /* yours: WIFI_NAME, WIFI_PASSWORD, and CERTIFICATE and KEY as PEM */
#include "lwip_server.h"
#include "pico/cyw43_arch.h"
#include "pico/rand.h"
#include "pico/stdlib.h"

static int hardware_random(void *context, uint8_t *bytes, size_t len) {
    (void)context;
    while (len-- > 0) {
        *bytes++ = (uint8_t)get_rand_32();
    }
    return REPRISE_OK;
}

static uint32_t seconds(void *context) {
    (void)context;
    return (uint32_t)(time_us_64() / 1000000);
}

static void answer(void *context, reprise_http_request *request, reprise_http_response *response) {
    (void)context;
    if (strcmp(request->path, "/") == 0) {
        response->status = 200;
        response->headers = "Content-Type: text/html\r\n";
        response->body = "<title>Pico W</title><p>Hello\n";
        response->body_len = strlen(response->body);
    }
}

static reprise_session_slot slots[8];
static reprise_session_cache cache;
static const reprise_tls_config config = {.certificates = CERTIFICATE, .certificates_len = sizeof CERTIFICATE - 1,
    .key = KEY, .key_len = sizeof KEY - 1, .random = hardware_random, .seconds = seconds, .cache = &cache};
static reprise_service service = {.tls = &reprise_bearssl, .handler = answer, .handshake_ms = 10000, .idle_ms = 10000};
static reprise_lwip_client clients[2];
static reprise_lwip_server server = {&service, clients, 2};

int main(void) {
    cyw43_arch_init();
    cyw43_arch_enable_sta_mode();
    while (cyw43_arch_wifi_connect_timeout_ms(WIFI_NAME, WIFI_PASSWORD, CYW43_AUTH_WPA2_AES_PSK, 30000) != 0) {
        tight_loop_contents();
    }
    reprise_session_cache_init(&cache, slots, 8, 300);
    service.server = malloc(service.tls->server_size);
    clients[0].memory = malloc(reprise_connection_size(&service));
    clients[1].memory = malloc(reprise_connection_size(&service));
    service.tls->start(service.server, &config);
    reprise_lwip_listen(&server, 443);
    for (;;) {
        cyw43_arch_poll();
        reprise_lwip_step(&server);
    }
}
