/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lwIP as pico_cyw43_arch_lwip_poll needs it. */
#define NO_SYS 1
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define MEM_ALIGNMENT 4
#define MEM_SIZE 16000
#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
#define MEMP_NUM_TCP_SEG 32
#define PBUF_POOL_SIZE 16
#define LWIP_DHCP 1
