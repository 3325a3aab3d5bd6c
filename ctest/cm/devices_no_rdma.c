// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: verbs get_device_list errno=ENOSYS always
 * A kernel without RDMA, as libibverbs tells it: the same as a machine without a device.
 */
#include "devices_none.c"
