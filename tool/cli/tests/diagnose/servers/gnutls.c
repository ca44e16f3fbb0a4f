// An HTTPS server on GnuTLS's API, as a program writes it. Its usage stands in server.h.

#include "server.h"

#include <fcntl.h>
#include <gnutls/gnutls.h>

static gnutls_certificate_credentials_t credentials;
static gnutls_anti_replay_t anti_replay;

// What all nodes have, and what each process has for itself.
static gnutls_datum_t key, own_key;

static int write_new(const gnutls_datum_t *name, const gnutls_datum_t *data, int flags) {
    char path[512];
    path_of(path, sizeof path, name->data, name->size);
    int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);
    if (fd < 0) return -1;
    ssize_t written = write(fd, data->data, data->size);
    close(fd);
    return written == data->size ? 0 : -1;
}

static int store(void *database, gnutls_datum_t name, gnutls_datum_t data) {
    (void)database;
    return write_new(&name, &data, O_TRUNC);
}

static gnutls_datum_t retrieve(void *database, gnutls_datum_t name) {
    (void)database;
    char path[512];
    gnutls_datum_t data = {NULL, 0};
    path_of(path, sizeof path, name.data, name.size);
    FILE *file = fopen(path, "rb");
    if (!file) return data;
    data.data = gnutls_malloc(65536);
    data.size = fread(data.data, 1, 65536, file);
    fclose(file);
    return data;
}

static int forget(void *database, gnutls_datum_t name) {
    (void)database;
    char path[512];
    path_of(path, sizeof path, name.data, name.size);
    return unlink(path);
}

// For early data: an offer is taken once.
static int add(void *database, time_t expires, const gnutls_datum_t *name, const gnutls_datum_t *data) {
    (void)database, (void)expires;
    return write_new(name, data, O_EXCL) == 0 ? 0 : GNUTLS_E_DB_ENTRY_EXISTS;
}

// Whatever an example does not use.
const void *unused[] = {store, &key, &own_key};

static int shake_hands(gnutls_session_t session) {
    int result;
    do result = gnutls_handshake(session);
    while (result < 0 && result != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(result));
    return result == 0;
}

static void *serve(void *argument) {
    int fd = (int)(long)argument;
    char request[8192];
    gnutls_session_t session;
    gnutls_init(&session, GNUTLS_SERVER); // Unless a test says otherwise.
    gnutls_set_default_priority(session);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, fd);
    gnutls_db_set_retrieve_function(session, retrieve);
    gnutls_db_set_remove_function(session, forget);
    gnutls_record_set_max_early_data_size(session, sizeof request);
    gnutls_anti_replay_enable(session, anti_replay);

    // A test's own statements.

    size_t length = 0;
    int up = shake_hands(session);
    if (up) {
        gnutls_session_ticket_send(session, 0, 0); // Unless a test says otherwise.
        // Requests in early data count like all others.
        ssize_t early = gnutls_record_recv_early_data(session, request, sizeof request);
        if (early > 0) length = early;
    }
    while (up) {
        if (ends_request(request, length)) {
            gnutls_record_send(session, response, sizeof response - 1);
            length = 0;
        }
        ssize_t read = gnutls_record_recv(session, request + length, sizeof request - length);
        if (read == 0) gnutls_bye(session, GNUTLS_SHUT_WR);
        if (read <= 0) break;
        length += read;
    }
    gnutls_deinit(session);
    close(fd);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    store_directory = arguments[5];
    gnutls_certificate_allocate_credentials(&credentials);
    if (gnutls_certificate_set_x509_key_file(credentials, arguments[2], arguments[3], GNUTLS_X509_FMT_PEM) < 0) return 3;
    gnutls_session_ticket_key_generate(&own_key);
    key.data = gnutls_calloc(1, own_key.size);
    key.size = own_key.size;
    memset(key.data, 7, key.size);
    gnutls_anti_replay_init(&anti_replay);
    gnutls_anti_replay_set_add_function(anti_replay, add);
    return serve_each(arguments[1], serve);
}
