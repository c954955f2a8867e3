#define TMX_KERNEL tmx_modal_kernel_any
#include "thermal/network/modal_kernel.h"
