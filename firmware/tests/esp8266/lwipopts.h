/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Of the core's lwIP, as far as its headers look at it. */
#define NO_SYS 1
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_DNS 1
