/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_modal_kernel_any
#include "thermal/network/modal_kernel.h"
