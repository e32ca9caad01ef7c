# `cmake --install`: libraries, headers, the command, the platform files, find_package(clotho) and pkg-config.
include(CMakePackageConfigHelpers)

set_target_properties(clotho_shared PROPERTIES EXPORT_NAME clotho)
add_library(clotho::clotho ALIAS clotho_shared)
add_library(clotho::clotho_static ALIAS clotho_static)

# System libraries behind ours, by name, and folders that no linker searches by itself. Not their pkg-config modules: users need
# none of their headers, nor what they would need if they were linked statically, too, which Debian does not ship; and who builds
# for another machine may have this one's pkg-config only.
set(CLOTHO_SYSTEM_LIBRARIES "")
set(CLOTHO_LIBS_PRIVATE "")
foreach(prefix HWLOC EXPAT URCU CJSON)
    foreach(folder ${${prefix}_LIBRARY_DIRS})
        string(FIND "${folder}" "${CMAKE_SYSROOT}/" in_sysroot)
        if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES AND NOT (CMAKE_SYSROOT AND in_sysroot EQUAL 0))
            string(APPEND CLOTHO_LIBS_PRIVATE "-L${folder} ")
        endif()
    endforeach()
    foreach(library ${${prefix}_LIBRARIES})
        list(APPEND CLOTHO_SYSTEM_LIBRARIES ${library})
        string(APPEND CLOTHO_LIBS_PRIVATE "-l${library} ")
    endforeach()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/clotho)
configure_package_config_file(toolchain/clotho-config.cmake.in ${CMAKE_BINARY_DIR}/clotho-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/clotho-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH CLOTHO_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # the package may be moved
string(REGEX REPLACE "/$" "" CLOTHO_PC_TO_PREFIX ${CLOTHO_PC_TO_PREFIX})
configure_file(toolchain/clotho.pc.in ${CMAKE_BINARY_DIR}/clotho.pc @ONLY)

install(TARGETS clotho_shared clotho_static EXPORT clotho
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET clotho_command)
    install(TARGETS clotho_command clotho_step RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(PROGRAMS $<TARGET_FILE_DIR:clotho_command>/clotho-ninja DESTINATION ${CMAKE_INSTALL_BINDIR}) # a link
endif()
foreach(engine mpi mpich) # several machines: static, used with the static clotho
    if(TARGET clotho_${engine})
        install(TARGETS clotho-${engine} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
        install(FILES $<TARGET_FILE:clotho_${engine}> DESTINATION ${CMAKE_INSTALL_LIBDIR})
        install(DIRECTORY include/clotho_mpi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
    endif()
endforeach()
install(DIRECTORY include/clotho DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY platforms/ DESTINATION ${CMAKE_INSTALL_DATADIR}/clotho/platforms FILES_MATCHING PATTERN "*.xml")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT clotho NAMESPACE clotho:: FILE clotho-targets.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/clotho-config.cmake ${CMAKE_BINARY_DIR}/clotho-config-version.cmake
    DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/clotho.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
