/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_recorder_v4
#include "core/sim/recorder_kernel.h"
