/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Mbed TLS 2.28 and 3.6 for a small HTTPS server: TLS 1.2, ECDHE, AES-GCM, RSA and ECDSA certificates. Flags of the build:
 *
 *   REPRISE_ASM=0           no MBEDTLS_HAVE_ASM: bignum arithmetic in C alone
 *   REPRISE_ROM_TABLES=1    AES tables in flash instead of computed into RAM
 *   REPRISE_P256_M=1        3.6: P-256 by p256-m, Mbed TLS's small implementation, which is reached through PSA
 *   REPRISE_SMALL_RECORDS=1 records of at most 4,096 bytes each way
 *   REPRISE_THREADS=1       locks of POSIX threads around its random generator and RSA keys
 *   REPRISE_HEAP=1          allocates with reprise_calloc and reprise_free
 */
#ifndef REPRISE_MBEDTLS_CONFIG_H
#define REPRISE_MBEDTLS_CONFIG_H

#ifndef REPRISE_ASM
#define REPRISE_ASM 1
#endif
#if REPRISE_ASM
#define MBEDTLS_HAVE_ASM
#endif
#if defined(REPRISE_ROM_TABLES) && REPRISE_ROM_TABLES
#define MBEDTLS_AES_ROM_TABLES
#endif

#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#if defined(REPRISE_HEAP) && REPRISE_HEAP
#include <stddef.h>
void *reprise_calloc(size_t count, size_t size);
void reprise_free(void *memory);
#define MBEDTLS_PLATFORM_CALLOC_MACRO reprise_calloc
#define MBEDTLS_PLATFORM_FREE_MACRO reprise_free
#endif

#if defined(REPRISE_THREADS) && REPRISE_THREADS
#define MBEDTLS_THREADING_C
#define MBEDTLS_THREADING_PTHREAD
#endif

/* Keys and certificates. */
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECDSA_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_OID_C
#define MBEDTLS_PK_C
#define MBEDTLS_PK_PARSE_C
#define MBEDTLS_X509_USE_C
#define MBEDTLS_X509_CRT_PARSE_C
#define MBEDTLS_PEM_PARSE_C
#define MBEDTLS_BASE64_C

#if defined(REPRISE_P256_M) && REPRISE_P256_M
#define MBEDTLS_PSA_CRYPTO_C
#define MBEDTLS_USE_PSA_CRYPTO
#define MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
#define MBEDTLS_PSA_P256M_DRIVER_ENABLED
#endif

/* Records. */
#if defined(REPRISE_SMALL_RECORDS) && REPRISE_SMALL_RECORDS
#define MBEDTLS_SSL_IN_CONTENT_LEN 4096
#define MBEDTLS_SSL_OUT_CONTENT_LEN 4096
#endif
#define MBEDTLS_AES_C
#define MBEDTLS_GCM_C
#define MBEDTLS_CIPHER_C
#define MBEDTLS_MD_C
#define MBEDTLS_SHA224_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA384_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_ENTROPY_C
#define MBEDTLS_NO_PLATFORM_ENTROPY
#define MBEDTLS_CTR_DRBG_C

/* The protocol. */
#define MBEDTLS_SSL_TLS_C
#define MBEDTLS_SSL_SRV_C
#define MBEDTLS_SSL_PROTO_TLS1_2
#define MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED
#define MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED
#define MBEDTLS_SSL_EXTENDED_MASTER_SECRET
#define MBEDTLS_SSL_SERVER_NAME_INDICATION
/* A record that was altered is answered with an alert, not with silence: for 16 bytes of flash. */
#define MBEDTLS_SSL_ALL_ALERT_MESSAGES
#if defined(REPRISE_SESSION_TICKETS) && REPRISE_SESSION_TICKETS
#define MBEDTLS_SSL_SESSION_TICKETS
#endif

#endif
