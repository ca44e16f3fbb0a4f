/* What Mbed TLS 2.28 and 3.6 name or do otherwise, for mbedtls.c. */
#ifndef REPRISE_SHIM_MBEDTLS_H
#define REPRISE_SHIM_MBEDTLS_H

#include <limits.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>

#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#include <psa/crypto.h>

#define HAS_TLS13 1
#define TICKET_CAME MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET
#define ID_PARAMETERS const unsigned char *id, size_t id_length,
#define ID_ARGUMENTS id, id_length,
#define RANDOM_ARGUMENTS(drbg) , mbedtls_ctr_drbg_random, drbg

typedef uint16_t pinned_group; /* IANA's number */

static int init_of_version(void) { return psa_crypto_init() == PSA_SUCCESS ? 0 : MBEDTLS_ERR_SSL_HW_ACCEL_FAILED; }

static void speak_only(mbedtls_ssl_config *config, uint16_t version)
{
    mbedtls_ssl_conf_min_tls_version(config, (mbedtls_ssl_protocol_version)version);
    mbedtls_ssl_conf_max_tls_version(config, (mbedtls_ssl_protocol_version)version);
    mbedtls_ssl_conf_tls13_key_exchange_modes(config, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ALL);
    mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(config, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
}

static int group_of(uint16_t group, pinned_group *out)
{
    *out = group;
    return (group >= 23 && group <= 25) || group == 29 || group == 256;
}

static void pin_to(mbedtls_ssl_config *config, const pinned_group *groups) { mbedtls_ssl_conf_groups(config, groups); }

#else
#define HAS_TLS13 0
#define TICKET_CAME INT_MIN /* no result of a read */
#define ID_PARAMETERS
#define ID_ARGUMENTS
#define RANDOM_ARGUMENTS(drbg)

typedef mbedtls_ecp_group_id pinned_group;

static int init_of_version(void) { return 0; }

static void speak_only(mbedtls_ssl_config *config, uint16_t version)
{
    mbedtls_ssl_conf_min_version(config, MBEDTLS_SSL_MAJOR_VERSION_3, version & 255);
    mbedtls_ssl_conf_max_version(config, MBEDTLS_SSL_MAJOR_VERSION_3, version & 255);
}

static int group_of(uint16_t group, pinned_group *out)
{
    const mbedtls_ecp_curve_info *curve = mbedtls_ecp_curve_info_from_tls_id(group);
    *out = curve ? curve->grp_id : MBEDTLS_ECP_DP_NONE;
    return curve != NULL;
}

static void pin_to(mbedtls_ssl_config *config, const pinned_group *groups) { mbedtls_ssl_conf_curves(config, groups); }
#endif

#endif
