// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Calls that are done in one step say what the others say.
 * device: soft
 */
#include "ways.h"
