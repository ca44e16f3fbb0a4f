/*
 * reprise_stack.h: one TLS library as a plugin of Reprise.
 *
 * A plugin is a shared object that exports one symbol, REPRISE_STACK_SYMBOL, which returns a table of functions. All of
 * them work on memory: bytes that the peer sent are fed in, bytes for the peer are taken out. A plugin opens no socket,
 * starts no thread, writes to no standard stream and installs no signal handler.
 *
 * Rules that hold for every function
 * ----------------------------------
 * - Types are opaque; whatever a _new or session_take returns is the caller's, who frees it by the _free of its name.
 *   A context outlives its connections and sessions. NULL may be freed.
 * - Inputs come first, then outputs. An output is written on success alone.
 * - Input memory is the caller's, and is only read during the call: copy what is needed later.
 * - One thread calls, one call at a time. What belongs to the process is done in init, which is called once, first. With
 *   REPRISE_CAN_SHARE_CONTEXT, several threads make connections of one context at once, each connection and its session in one thread.
 * - A result is a count or REPRISE_OK (0 or above), a state (-1 to -99), or an error (-100 and below):
 */
#ifndef REPRISE_STACK_H
#define REPRISE_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by whatever an older program could not read. Fields are only ever added at the end of a struct: each struct
 * has its size, as the caller or the plugin knew it that made it, and the other reads and writes no further. */
#define REPRISE_STACK_ABI 1
#define REPRISE_STACK_SYMBOL "reprise_stack_v1"
/* Whether a struct is large enough to have a field. */
#define REPRISE_HAS(struct_, field) \
    ((struct_)->size >= (size_t)((const char *)&(struct_)->field - (const char *)(struct_)) + sizeof (struct_)->field)

#define REPRISE_OK 0

/* States: nothing is wrong. */
#define REPRISE_WANT_READ (-1)  /* bytes of the peer are needed: feed, and call again */
#define REPRISE_WANT_WRITE (-2) /* there is no room for output: take, and call again */
#define REPRISE_CLOSED (-3)     /* the peer's close_notify has come: nothing more is to be read */

/* Errors. After one of a connection, take what there is (an alert, most likely) and free it. */
#define REPRISE_UNSUPPORTED (-100)     /* the library cannot do what the options, the session or the peer ask for */
#define REPRISE_INVALID (-101)         /* an argument cannot be read: PEM, a session's bytes */
#define REPRISE_FAILED (-102)          /* the handshake or a record failed; error_text says why */
#define REPRISE_BAD_CERTIFICATE (-103) /* the peer's certificate is refused, or there is none and one is required */
#define REPRISE_NO_MEMORY (-104)
#define REPRISE_TOO_SMALL (-105) /* the output does not fit */
#define REPRISE_NO_SESSION (-106) /* the connection has left none, or none that is new */

enum { REPRISE_CLIENT = 0, REPRISE_SERVER = 1 };

/* How sessions are kept: a server by its own cache (TLS 1.2 session IDs) or in tickets (RFC 5077; under TLS 1.3
 * NewSessionTicket: one on each connection, full or resumed), or not at all. A client asks for what it is told, and for nothing else. */
enum { REPRISE_SESSIONS_NONE = 0, REPRISE_SESSIONS_ID = 1, REPRISE_SESSIONS_TICKET = 2 };

/* Where a server's ephemeral key pair comes from: it is made in the handshake, or by pregenerate and used once, or it is that of all
 * connections of the context. */
enum { REPRISE_KEYS_FRESH = 0, REPRISE_KEYS_AHEAD = 1, REPRISE_KEYS_REUSED = 2 };

/* What can be done: bits of reprise_stack.capabilities. */
#define REPRISE_CAN_CLIENT (1u << 0)
#define REPRISE_CAN_SERVER (1u << 1)
#define REPRISE_CAN_TLS12 (1u << 2)
#define REPRISE_CAN_TLS13 (1u << 3)
#define REPRISE_CAN_ID (1u << 4)
#define REPRISE_CAN_TICKET (1u << 5)
#define REPRISE_CAN_CLIENT_AUTH (1u << 6)
#define REPRISE_CAN_EXPORT (1u << 7) /* session_export and session_import */
#define REPRISE_CAN_PSK_KE (1u << 8) /* use a PSK of TLS 1.3, from a ticket or external, without a key exchange */
#define REPRISE_CAN_EARLY_DATA (1u << 9) /* early_write and early_read */
#define REPRISE_CAN_PSK (1u << 10) /* psk_identity; which suites and modes it has, context_new says */
#define REPRISE_CAN_KEYS_AHEAD (1u << 13) /* key_pairs and pregenerate */
#define REPRISE_CAN_KEYS_REUSED (1u << 14) /* key_pairs */
#define REPRISE_CAN_LIBRARY_CONTEXT (1u << 16) /* own_library_context */
#define REPRISE_CAN_MAX_FRAGMENT (1u << 18) /* max_fragment; which lengths, context_new says */
#define REPRISE_CAN_RELEASE_BUFFERS (1u << 19) /* release_buffers */
#define REPRISE_CAN_SHARE_CONTEXT (1u << 20) /* connection_new of one context by several threads at once; the last of them may free it */
#define REPRISE_CAN_SHARE_ALL_GROUPS (1u << 21) /* share_all_groups */

typedef struct reprise_context reprise_context;       /* a configuration, with a server's session cache and ticket keys */
typedef struct reprise_connection reprise_connection; /* one side of one connection */
typedef struct reprise_session reprise_session;       /* what a client keeps of one, to resume it */

/* Not terminated by a zero; NULL with length 0 where there is none. */
typedef struct {
    const char *data;
    size_t length;
} reprise_text;

typedef struct {
    size_t size;      /* sizeof(reprise_options) */
    int32_t side;     /* REPRISE_CLIENT, REPRISE_SERVER */
    uint16_t version; /* the only version that may be spoken: 0x0303, 0x0304 */
    int32_t sessions; /* REPRISE_SESSIONS_… */
    /* The only suites and groups that may be spoken, by IANA's numbers, the preferred first. Where the library cannot be
     * held to one of them, REPRISE_UNSUPPORTED: nothing else may be negotiated in its place. No groups: those of the library. */
    const uint16_t *suites;
    size_t suites_length;
    const uint16_t *groups;
    size_t groups_length;
    /* PEM. The own chain, leaf first, and key (PKCS #8, not encrypted): always a server's, and a client's where it has
     * them. The roots that the peer's chain must lead to: a client verifies always, and a server where trust is given. */
    reprise_text chain;
    reprise_text key;
    reprise_text trust;
    int32_t require_client_certificate; /* a server refuses a client without a certificate */
    /* A client's: sent as server_name, and the certificate must be valid for it. Zero-terminated. */
    const char *server_name;

    /* TLS 1.3: whether a ticket is rather used without a key exchange (psk_ke, RFC 9846 §4.3.9). A client offers that mode,
     * perhaps beside psk_dhe_ke, and a server chooses it where it is offered. 0: rather with one (psk_dhe_ke). */
    int32_t psk_ke;
    /* Early data (RFC 9846 §2.3). A server's tickets allow so many bytes of it, and it accepts them; a client may send some.
     * 0: none is offered, and none accepted. */
    uint32_t max_early_data;
    /* The context has the library's state, providers and random generators for itself, which end with it: OpenSSL's
     * OSSL_LIB_CTX. Only where the capabilities say so; read it where size reaches so far. */
    int32_t own_library_context;
    /* An external PSK (RFC 4279, RFC 5489; RFC 9846 §4.3.11, of the hash of the first suite): both sides authenticate by it alone, and there
     * is no chain, key or trust. Only where the capabilities say so; read it where size reaches as far as the last. psk_ke says how
     * it is used, as of a ticket. The identity has no zero in it. No identity: no PSK. */
    reprise_text psk_identity;
    const uint8_t *psk_key;
    size_t psk_key_length;
    /* A server's: REPRISE_KEYS_…. Only where the capabilities say so; read it where size reaches so far. Where a version or a group has it
     * not, REPRISE_UNSUPPORTED, and error_text says why. */
    int32_t key_pairs;
    /* The most bytes of data that a record of either side may have, and buffers for no more, as far as the library has such. A client asks
     * for it by max_fragment_length (RFC 6066 §4) or record_size_limit (RFC 8449, one more under TLS 1.3), and a server grants it. Only
     * where the capabilities say so; read it where size reaches so far. 0: what TLS allows. */
    uint32_t max_fragment;
    /* Whether a connection gives back, once its handshake is complete and whenever it is idle, whatever the library has a mode or a call to
     * give back. Only where the capabilities say so; read it where size reaches so far. */
    int32_t release_buffers;
    /* A client's, under TLS 1.3: whether it makes a key share of each group, and not of the preferred alone. Only where the capabilities say so;
     * read it where size reaches so far. */
    int32_t share_all_groups;
} reprise_options;

/* What a connection has come to, to be told once its handshake is complete: what was observed, never what was asked for. */
typedef struct {
    size_t size;                /* sizeof(reprise_facts) as the caller knows it */
    uint16_t version;           /* 0x0303, 0x0304 */
    uint16_t suite;             /* IANA's number */
    uint16_t group;             /* IANA's number; 0 where there was none, or it is not known */
    int8_t resumed;             /* 1, 0; -1 where the library does not tell; of an external PSK under TLS 1.3 either */
    int8_t resumed_by;          /* REPRISE_SESSIONS_ID, _TICKET; -1 where the library does not tell */
    int8_t client_certificate;  /* 1, 0: whether the session has one of the client's; -1 where the library does not tell */
    int8_t early_data;          /* 1, 0: whether there was any and the server accepted it; -1 where the library does not tell */
} reprise_facts;

/* One operation of those that handshakes and records are made of, ready to be repeated. */
typedef struct reprise_primitive reprise_primitive;

/* What is done each time, and what algorithm is a number of. Inputs are the same in every library: data, secrets and keys of ciphers are
 * the bytes 0, 1, 2, … (modulo 256), and a nonce is twelve zeros. What can be made ready once, is: a key is read, an algorithm found. */
enum {
    REPRISE_OP_SIGN = 0,        /* SignatureScheme: by key, of length bytes: a digest, or a message where the scheme hashes none ahead */
    REPRISE_OP_VERIFY = 1,      /* the same: a signature that was made before */
    REPRISE_OP_KEY_PAIR = 2,    /* NamedGroup: a new key pair */
    REPRISE_OP_AGREE = 3,       /* NamedGroup: the shared secret of two key pairs, which are there */
    REPRISE_OP_ENCAPSULATE = 4, /* NamedGroup, a KEM: a secret for a public key that is there */
    REPRISE_OP_DECAPSULATE = 5, /* the same: the secret of a ciphertext that is there */
    REPRISE_OP_SEAL = 6,        /* a suite of TLS 1.3: length bytes, with the first five bytes of data as additional data */
    REPRISE_OP_OPEN = 7,        /* the same: what was sealed before */
    REPRISE_OP_HASH = 8,        /* HashAlgorithm (RFC 5246 §7.4.1.4.1): of length bytes */
    REPRISE_OP_HKDF = 9,        /* the same: HKDF-Expand (RFC 5869 §2.3) of a secret of the hash's length and 20 bytes of info, to the hash's length */
    REPRISE_OP_PRF = 10,        /* the same: TLS 1.2's PRF of a secret of 48 bytes, the label "master secret" and 64 bytes of seed, to 48 bytes */
    REPRISE_OP_RANDOM = 11,     /* 0: length bytes of the generator that keys are made by */
    /* As TLS does the above in a handshake, where nothing of it is there before. A plugin may be without them. */
    REPRISE_OP_EXCHANGE = 12,   /* NamedGroup: a whole key exchange of two sides, as the library's TLS makes it: two new key pairs (of a KEM one), each
                                 * encoded, read by the peer and checked, and both secrets: the output is the one and then the other */
    REPRISE_OP_VERIFY_NEW_KEY = 13, /* as VERIFY, by a public key that is read anew each time, from what a certificate has of it */
    REPRISE_OP_HKDF_AFTER = 14, /* with a key SIGN by the scheme, without one EXCHANGE in the group; and directly behind it REPRISE_EXPANSIONS times HKDF
                                 * by SHA-256 */
};

/* As often as the two sides of a handshake under TLS 1.3 do. */
#define REPRISE_EXPANSIONS 32

typedef struct {
    size_t size; /* sizeof(reprise_primitive_options) */
    int32_t operation;
    uint16_t algorithm;
    size_t length;
    reprise_text key; /* PEM, PKCS #8, not encrypted: of whoever signs */
} reprise_primitive_options;

typedef struct {
    size_t size; /* sizeof(reprise_primitives) */
    /* REPRISE_UNSUPPORTED: the library has no such operation. */
    int (*primitive_new)(const reprise_primitive_options *options, reprise_primitive **out);
    void (*primitive_free)(reprise_primitive *primitive);
    /* Does it so many times, one after the other. */
    int (*run)(reprise_primitive *primitive, size_t count);
    /* What the last time has come to, so that it can be checked: the signature, what was sealed with its tag behind it, the hash, what was
     * derived, the random bytes. How many bytes; 0: nothing of the kind. */
    ptrdiff_t (*output)(const reprise_primitive *primitive, size_t capacity, uint8_t *out);
} reprise_primitives;

typedef struct {
    uint32_t abi;  /* REPRISE_STACK_ABI */
    uint32_t size; /* sizeof(reprise_stack) */

    /* Static, zero-terminated: "OpenSSL", "3.0.22", and how it was built ("Debian, static"), may be empty. */
    const char *name;
    const char *version;
    const char *flags;
    uint32_t capabilities;

    int (*init)(void);

    int (*context_new)(const reprise_options *options, reprise_context **out);
    void (*context_free)(reprise_context *context);

    /* Begins a connection; a client's ClientHello may be made here or in the first handshake. session: to be resumed, or
     * NULL. It stays the caller's, and may be used again. */
    int (*connection_new)(reprise_context *context, const reprise_session *session, reprise_connection **out);
    void (*connection_free)(reprise_connection *connection);

    /* Takes in what the peer sent, one record or more, and returns how many bytes of it: all, where there is room. It
     * does not act on them. REPRISE_WANT_WRITE: none, before output is taken; REPRISE_WANT_READ: none, before what is
     * there already is read by handshake or read. */
    ptrdiff_t (*feed)(reprise_connection *connection, const uint8_t *bytes, size_t length);
    /* Moves what is to be sent to the peer into out, all where there is room, and returns how many bytes; 0: nothing is to be sent. */
    ptrdiff_t (*take)(reprise_connection *connection, size_t capacity, uint8_t *out);

    /* Goes on with the handshake. REPRISE_OK: it is complete, application data may be sent; so again when called again. */
    int (*handshake)(reprise_connection *connection);

    /* Application data: how many bytes were read or written, above 0. One call reads all of a record, where there is room
     * for it. Reading also handles what comes between, tickets among it. */
    ptrdiff_t (*read)(reprise_connection *connection, size_t capacity, uint8_t *out);
    ptrdiff_t (*write)(reprise_connection *connection, const uint8_t *data, size_t length);
    /* Says close_notify: once. */
    int (*close)(reprise_connection *connection);

    int (*facts)(const reprise_connection *connection, reprise_facts *out);

    /* A client's newest session that was not taken before; REPRISE_NO_SESSION. A resumed TLS 1.2 connection may give the
     * session again that it was begun from. */
    int (*session_take)(reprise_connection *connection, reprise_session **out);
    void (*session_free)(reprise_session *session);
    /* As bytes, for another process of the same library: how many, or REPRISE_TOO_SMALL. */
    ptrdiff_t (*session_export)(const reprise_session *session, size_t capacity, uint8_t *out);
    int (*session_import)(reprise_context *context, const uint8_t *bytes, size_t length, reprise_session **out);

    /* Why the last call of this thread failed, in the library's own words, without a terminating zero: how many bytes. */
    size_t (*error_text)(size_t capacity, char *out);

    /* Without REPRISE_CAN_EARLY_DATA neither is called, and both may be NULL.
     * A client's: sends early data, once and before the first handshake, and how many bytes of it; 0: the session allows none. What
     * the server has rejected is not sent again: facts tell, and write is the caller's choice. */
    ptrdiff_t (*early_write)(reprise_connection *connection, const uint8_t *data, size_t length);
    /* A server's: early data that it has accepted, after any call of handshake: how many bytes; 0: no more than was read. */
    ptrdiff_t (*early_read)(reprise_connection *connection, size_t capacity, uint8_t *out);
    /* May be NULL: bytes of the generator that keys are made by. */
    int (*random)(size_t length, uint8_t *out);
    /* May be NULL. Of a context with REPRISE_KEYS_AHEAD: makes key pairs for so many more connections. Each connection uses one;
     * connection_new fails where there is none left. */
    int (*pregenerate)(reprise_context *context, size_t count);
    /* May be NULL. */
    const reprise_primitives *primitives;
} reprise_stack;

typedef const reprise_stack *(*reprise_stack_function)(void);

/* The exported symbol. */
const reprise_stack *reprise_stack_v1(void);

/* Writes it, for a shim whose functions have the names below. REPRISE_FLAGS says how the library was built. */
#ifndef REPRISE_FLAGS
#define REPRISE_FLAGS ""
#endif
/* A shim that has the function defines it. */
#ifndef REPRISE_RANDOM
#define REPRISE_RANDOM NULL
#endif
/* The same of this one. */
#ifndef REPRISE_PREGENERATE
#define REPRISE_PREGENERATE NULL
#endif
/* The same of these. */
#ifndef REPRISE_PRIMITIVES
#define REPRISE_PRIMITIVES NULL
#endif
#define REPRISE_STACK_TABLE(name_, version_, capabilities_) \
    REPRISE_STACK_TABLE_WITH(name_, version_, capabilities_, NULL, NULL)
/* The same with early_write and early_read. */
#define REPRISE_STACK_TABLE_WITH(name_, version_, capabilities_, early_write_, early_read_)                                \
    __attribute__((visibility("default"))) const reprise_stack *reprise_stack_v1(void)                                     \
    {                                                                                                                      \
        static reprise_stack table = {REPRISE_STACK_ABI, sizeof(reprise_stack), name_, NULL, REPRISE_FLAGS, capabilities_, \
                                      init, context_new, context_free, connection_new, connection_free, feed, take,        \
                                      handshake, read_data, write_data, close_connection, facts, session_take,             \
                                      session_free, session_export, session_import, error_text, early_write_,              \
                                      early_read_, NULL, NULL, NULL};                                                      \
        table.random = REPRISE_RANDOM;                                                                                     \
        table.pregenerate = REPRISE_PREGENERATE;                                                                           \
        table.primitives = REPRISE_PRIMITIVES;                                                                             \
        table.version = version_;                                                                                          \
        return &table;                                                                                                     \
    }

#ifdef __cplusplus
}
#endif

#endif
