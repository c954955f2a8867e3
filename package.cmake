# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian package: `./dev package`. Dependencies on libraries are read from the files by dpkg-shlibdeps.
set(CPACK_PACKAGE_NAME thermix)
set(CPACK_PACKAGE_CONTACT "thermix maintainers <maintainers@users.noreply.a-seed-0312b7a5.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "thermal-aware multi-GPU scheduling simulator")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Schedulers, throttling, power and fans in one loop with an RC grid that computes
what HotSpot's grid model computes. The program thermix, libthermix with its headers,
the Python package thermix, chips and workloads.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin) # libopenmpi3, found by the above, has no mpirun
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, python3, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg, libsuitesparse-dev, libgsl-dev, libconfig-dev, libxxhash-dev, \
pkg-config") # the last five: to link libthermix.a
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# After the install one line says where to begin.
file(WRITE ${PROJECT_BINARY_DIR}/postinst "#!/bin/sh
set -e
[ \"$1\" != configure ] || echo 'thermix: begin with thermix --help and /usr/share/doc/thermix/docs/quick-start.md'
")
file(CHMOD ${PROJECT_BINARY_DIR}/postinst PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/postinst)
include(CPack)
