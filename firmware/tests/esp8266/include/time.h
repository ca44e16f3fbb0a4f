/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The core asks for <../include/time.h>. */
#include <time.h>
