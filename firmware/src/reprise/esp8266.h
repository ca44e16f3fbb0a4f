/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The session cache behind the ESP8266 core's WiFiServerSecure: bound to names, with a lifetime, and wiped.
 *
 *     reprise::CachedSessions<8> sessions(300);    eight sessions, which live five minutes
 *     server.setCache(&sessions);
 */
#ifndef REPRISE_ESP8266_H
#define REPRISE_ESP8266_H

#include <Arduino.h>
#include <WiFiServerSecureBearSSL.h>

#include "reprise/sessions_bearssl.h"

namespace reprise {

/*
 * setCache() takes a ServerSessions and hands its private br_ssl_session_cache_lru to BearSSL as a cache class. An explicit
 * instantiation may name a private member (ISO C++ [temp.spec]): this puts a class of our own in the place of that one.
 */
br_ssl_session_cache_lru &cache_of(BearSSL::ServerSessions &sessions);

template <br_ssl_session_cache_lru BearSSL::ServerSessions::*Cache> struct Access {
    friend br_ssl_session_cache_lru &cache_of(BearSSL::ServerSessions &sessions)
    {
        return sessions.*Cache;
    }
};
template struct Access<&BearSSL::ServerSessions::_cache>;

template <size_t Count> class CachedSessions : public BearSSL::ServerSessions {
public:
    explicit CachedSessions(uint32_t lifetime) : BearSSL::ServerSessions(&unused, 1)
    {
        reprise_session_cache_init(&cache, slots, Count, lifetime);
        config.cache = &cache;
        /* millis() wraps around after 49.7 days, micros64() does not. */
        config.seconds = [](void *) { return static_cast<uint32_t>(micros64() / 1000000); };
        reprise_bearssl_sessions_init(&sessions, &config, nullptr, 0);
        Shim *shim = new (&cache_of(*this)) Shim;
        shim->vtable = &shim_class();
        shim->sessions = &sessions;
    }
    CachedSessions(const CachedSessions &) = delete;
    CachedSessions &operator=(const CachedSessions &) = delete;

    /* Ends every session: for a new certificate. */
    void clear()
    {
        reprise_session_cache_clear(&cache);
    }

private:
    /* Fits where the core's cache was. */
    struct Shim {
        const br_ssl_session_cache_class *vtable;
        reprise_bearssl_sessions *sessions;
    };
    static_assert(sizeof(Shim) <= sizeof(br_ssl_session_cache_lru), "no room for a pointer");

    static const br_ssl_session_cache_class **behind(const br_ssl_session_cache_class **context)
    {
        return &reinterpret_cast<Shim *>(context)->sessions->vtable;
    }
    static const br_ssl_session_cache_class &shim_class()
    {
        static const br_ssl_session_cache_class it = {
            sizeof(Shim),
            [](const br_ssl_session_cache_class **context, br_ssl_server_context *tls, const br_ssl_session_parameters *from) {
                reprise_bearssl_sessions_class.save(behind(context), tls, from);
            },
            [](const br_ssl_session_cache_class **context, br_ssl_server_context *tls, br_ssl_session_parameters *to) {
                return reprise_bearssl_sessions_class.load(behind(context), tls, to);
            },
        };
        return it;
    }

    BearSSL::ServerSession unused; /* without one, the core takes a cache for none */
    reprise_session_slot slots[Count];
    reprise_session_cache cache;
    reprise_tls_config config = {};
    reprise_bearssl_sessions sessions;
};

} // namespace reprise

#endif
