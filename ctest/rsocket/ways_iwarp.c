// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The same where a message takes two work requests, in small buffers and queues, which wrap and run out often.
 * device: soft
 * env: RDMAFAKE=device name=fake0 type=iwarp ip=10.77.0.1/24
 * setting: sqsize_default=16
 * setting: rqsize_default=16
 * setting: mem_default=8192
 * setting: wmem_default=4096
 */
#include "ways.h"
