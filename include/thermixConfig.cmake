# SPDX-License-Identifier: GPL-3.0-or-later
# find_package(thermix): targets thermix::thermix (shared) and thermix::thermix-static.
include(${CMAKE_CURRENT_LIST_DIR}/thermix.cmake)
