/* SPDX-License-Identifier: GPL-3.0-or-later */
#define TMX_KERNEL tmx_recorder_any
#include "core/sim/recorder_kernel.h"
