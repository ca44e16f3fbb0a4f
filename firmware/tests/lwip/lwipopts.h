/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Enough of a configuration to compile the port against lwIP's headers. */
#define NO_SYS 1
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_TCP 1
