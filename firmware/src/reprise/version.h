/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef REPRISE_VERSION_H
#define REPRISE_VERSION_H

#define REPRISE_VERSION "0.1.0"

#endif
