/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* To compile against the ESP8266 core without its compiler, whose C library has this header. */
#ifndef REPRISE_TEST_PGMSPACE_H
#define REPRISE_TEST_PGMSPACE_H
#include <stdint.h>
#include <string.h>
#define PROGMEM
#define PGM_P const char *
#define PGM_VOID_P const void *
#define PSTR(text) (text)
#define pgm_read_byte(address) (*(const uint8_t *)(address))
#define pgm_read_dword(address) (*(const uint32_t *)(address))
#define memcpy_P memcpy
#define strlen_P strlen
#define strcpy_P strcpy
#define strncpy_P strncpy
#define strcmp_P strcmp
#define strncmp_P strncmp
#define strstr_P strstr
#endif
