# `cmake --install`: libraries, headers, the command, the platform files, find_package(clotho) and pkg-config.
include(CMakePackageConfigHelpers)

# clotho::clotho and clotho::clotho_static; clotho::decide, clotho::device, clotho::io, clotho::rpc and theirs.
foreach(library ${CLO_LIBRARIES})
    string(REGEX REPLACE "^clotho_" "" name ${library})
    set_target_properties(${library}_shared PROPERTIES EXPORT_NAME ${name})
    set_target_properties(${library}_static PROPERTIES EXPORT_NAME ${name}_static)
    add_library(clotho::${name} ALIAS ${library}_shared)
    add_library(clotho::${name}_static ALIAS ${library}_static)
    list(APPEND CLOTHO_COMPONENTS ${name})
    list(APPEND library_targets ${library}_shared ${library}_static)
endforeach()

# System libraries behind each of ours, by name, and folders that no linker searches by itself. Not their pkg-config modules: users
# need none of their headers, nor what they would need if they were linked statically, too, which Debian does not ship; and who
# builds for another machine may have this one's pkg-config only.
function(clo_libraries_behind library)
    foreach(prefix ${ARGN})
        foreach(folder ${${prefix}_LIBRARY_DIRS})
            string(FIND "${folder}" "${CMAKE_SYSROOT}/" in_sysroot)
            if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES AND NOT (CMAKE_SYSROOT AND in_sysroot EQUAL 0))
                string(APPEND flags "-L${folder} ")
            endif()
        endforeach()
        foreach(behind ${${prefix}_LIBRARIES})
            list(APPEND names ${behind})
            string(APPEND flags "-l${behind} ")
        endforeach()
    endforeach()
    set(CLOTHO_BEHIND_${library} "${names}" PARENT_SCOPE)
    set(CLOTHO_FLAGS_${library} "${flags}" PARENT_SCOPE)
endfunction()
clo_libraries_behind(clotho HWLOC EXPAT URCU)
clo_libraries_behind(decide) # CLP is opened when it is needed,
clo_libraries_behind(device) # and so is OpenCL
clo_libraries_behind(io CJSON)
clo_libraries_behind(rpc UV MSGPACK CURL SQLITE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/clotho)
configure_package_config_file(toolchain/clotho-config.cmake.in ${CMAKE_BINARY_DIR}/clotho-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/clotho-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH CLOTHO_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # the package may be moved
string(REGEX REPLACE "/$" "" CLOTHO_PC_TO_PREFIX ${CLOTHO_PC_TO_PREFIX})
foreach(name ${CLOTHO_COMPONENTS})
    string(REGEX REPLACE "^(decide|device|io|rpc)$" "clotho-\\1" CLOTHO_PC_NAME ${name})
    set(CLOTHO_PC_LIBS ${CLOTHO_FLAGS_${name}})
    if(name STREQUAL "clotho")
        set(CLOTHO_PC_REQUIRES "")
    elseif(name STREQUAL "io")
        set(CLOTHO_PC_REQUIRES "clotho-decide clotho-device")
    else()
        set(CLOTHO_PC_REQUIRES clotho)
    endif()
    configure_file(toolchain/clotho.pc.in ${CMAKE_BINARY_DIR}/${CLOTHO_PC_NAME}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${CLOTHO_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(TARGETS ${library_targets} EXPORT clotho
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
install(DIRECTORY include/clotho DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY platforms/ DESTINATION ${CMAKE_INSTALL_DATADIR}/clotho/platforms FILES_MATCHING PATTERN "*.xml")
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT clotho NAMESPACE clotho:: FILE clotho-targets.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/clotho-config.cmake ${CMAKE_BINARY_DIR}/clotho-config-version.cmake
    DESTINATION ${package_dir})
