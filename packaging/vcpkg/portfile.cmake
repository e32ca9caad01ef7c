# An overlay port of the tree that this folder is a part of: vcpkg install clotho --overlay-ports=packaging/vcpkg
# For a release: vcpkg_from_github or vcpkg_download_distfile of its archive in place of this line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DCLOTHO_MPI=OFF -DCLOTHO_PYTHON=OFF -DCLOTHO_LP=OFF -DCLOTHO_RPC=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME clotho CONFIG_PATH lib/cmake/clotho)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES clotho clotho-step AUTO_CLEAN)
file(REMOVE "${CURRENT_PACKAGES_DIR}/bin/clotho-ninja" "${CURRENT_PACKAGES_DIR}/debug/bin/clotho-ninja") # a link
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
