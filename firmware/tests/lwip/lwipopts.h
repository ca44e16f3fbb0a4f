/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lwIP without an operating system, over its loopback interface. Little memory: writes have to wait for room. */
#define NO_SYS 1
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_TCP 1
#define LWIP_HAVE_LOOPIF 1
#define LWIP_NETIF_LOOPBACK 1
#define LWIP_NETIF_LOOPBACK_MULTITHREADING 0
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_IPV6 0
#define LWIP_ARP 0
#define LWIP_ETHERNET 0
#define LWIP_RAW 0
#define LWIP_UDP 0
#define MEM_ALIGNMENT 8
#define MEMP_NUM_TCP_PCB 12
#define MEM_SIZE 16000
#define TCP_MSS 536
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_WND (4 * TCP_MSS)
