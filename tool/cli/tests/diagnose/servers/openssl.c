// An HTTPS server on OpenSSL's API, as a program writes it. Its usage stands in server.h.

#include "server.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

static SSL_CTX *ctx;

// Whether a connection that the client has ended with close_notify is answered with one.
static int answers_close_notify = 1;

// What all nodes have.
static unsigned char keys[80] = "the same eighty bytes on every node";

static int keep_up_to(SSL_SESSION *session, int most) {
    char path[512];
    unsigned length;
    const unsigned char *id = SSL_SESSION_get_id(session, &length);
    int size = i2d_SSL_SESSION(session, NULL);
    if (size > most) return 0;
    unsigned char *bytes = malloc(size), *end = bytes;
    i2d_SSL_SESSION(session, &end);
    path_of(path, sizeof path, id, length);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
    free(bytes);
    return 0;
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    return keep_up_to(session, 65536);
}

// A store whose entries are of one size.
static int keep_small_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    return keep_up_to(session, 1024);
}

static SSL_SESSION *find_session(SSL *ssl, const unsigned char *id, int length, int *copy) {
    (void)ssl;
    static __thread unsigned char bytes[65536];
    char path[512];
    path_of(path, sizeof path, id, length);
    *copy = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    const unsigned char *from = bytes;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return d2i_SSL_SESSION(NULL, &from, size);
}

static int crypt_ticket(unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypt) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, keys + 16, 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (encrypt) {
        memcpy(name, keys, 16);
        for (int place = 0; place < 16; place++) iv[place] = rand();
    } else if (memcmp(name, keys, 16) != 0) {
        return 0;
    }
    EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, keys + 48, iv, encrypt);
    EVP_MAC_CTX_set_params(mac, parameters);
    return 1;
}

// Accepts tickets as they are.
static int without_renewal(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypt) {
    (void)ssl;
    return crypt_ticket(name, iv, cipher, mac, encrypt);
}

// Accepts tickets and has them renewed.
static int callback(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypt) {
    int known = without_renewal(ssl, name, iv, cipher, mac, encrypt);
    return known && !encrypt ? 2 : known;
}

// The PSK "device" of TLS 1.3, thirty-two bytes of 7, for SHA-256.
static int find_psk(SSL *ssl, const unsigned char *identity, size_t length, SSL_SESSION **session) {
    static const unsigned char tls_aes_128_gcm_sha256[] = {0x13, 0x01};
    unsigned char key[32];
    *session = NULL;
    if (length != 6 || memcmp(identity, "device", 6) != 0) return 1;
    memset(key, 7, sizeof key);
    *session = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(*session, key, sizeof key);
    SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, tls_aes_128_gcm_sha256));
    SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION);
    return 1;
}

// Whatever an example does not use.
const void *unused[] = {keep_session, keep_small_session, find_session, without_renewal, callback, find_psk, keys};

// Requests in early data count like all others. 1 where the handshake is over.
static int accept_with_early_data(SSL *ssl, char *request, size_t size, size_t *length) {
    for (;;) {
        size_t read = 0;
        int result = SSL_read_early_data(ssl, request + *length, size - *length, &read);
        *length += read;
        if (result == SSL_READ_EARLY_DATA_ERROR) return 0;
        if (result == SSL_READ_EARLY_DATA_FINISH) return SSL_accept(ssl) == 1;
    }
}

static void *serve(void *argument) {
    int fd = (int)(long)argument;
    char request[8192];
    size_t length = 0;
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    int up = SSL_get_max_early_data(ssl) ? accept_with_early_data(ssl, request, sizeof request, &length) : SSL_accept(ssl) == 1;
    while (up) {
        if (ends_request(request, length)) {
            SSL_write(ssl, response, sizeof response - 1);
            length = 0;
        }
        int read = SSL_read(ssl, request + length, sizeof request - length);
        if (read <= 0) {
            // After another end than close_notify, SSL_free forgets the session.
            if (answers_close_notify && SSL_get_error(ssl, read) == SSL_ERROR_ZERO_RETURN) SSL_shutdown(ssl);
            break;
        }
        length += read;
    }
    // A test's own end of a connection.
    SSL_free(ssl);
    close(fd);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    store_directory = arguments[5];
    ctx = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(ctx, arguments[2]) != 1) return 3;
    if (SSL_CTX_use_PrivateKey_file(ctx, arguments[3], SSL_FILETYPE_PEM) != 1) return 3;
    SSL_CTX_load_verify_locations(ctx, arguments[4], NULL);

    // A test's own statements.

    return serve_each(arguments[1], serve);
}
