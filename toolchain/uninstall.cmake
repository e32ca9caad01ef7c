# `--target uninstall` removes what the last `cmake --install` of this build wrote, under DESTDIR if that is set as it was then, and the
# folders that it made and that are empty now: those named clotho, and those of others, which each installation notes if they are not
# there. Included by the build it defines both; as a script (-DBUILD=FOLDER -P) it removes.
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(shared "${CMAKE_INSTALL_BINDIR};${CMAKE_INSTALL_LIBDIR}/cmake;${CMAKE_INSTALL_LIBDIR}/pkgconfig;${CMAKE_INSTALL_INCLUDEDIR}"
        "${CMAKE_INSTALL_MANDIR}/man1;${CMAKE_INSTALL_DATADIR}/bash-completion/completions;${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
        "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d;${CMAKE_INSTALL_DOCDIR}")
    install(CODE "set(shared \"${shared}\")\nset(noted \"${CMAKE_BINARY_DIR}/install_folders.txt\")" # the first rule: before any file is there
        CODE [[
        file(APPEND "${noted}" "prefix:${CMAKE_INSTALL_PREFIX}\n")
        foreach(folder ${shared})
            cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
            while(NOT EXISTS "$ENV{DESTDIR}${folder}" AND NOT folder STREQUAL "/") # DESTDIR may not be there yet
                file(APPEND "${noted}" "${folder}\n")
                cmake_path(GET folder PARENT_PATH folder)
            endwhile()
        endforeach()]])
    add_custom_target(uninstall VERBATIM
        COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_FILE})
    return()
endif()

cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${BUILD}/install_manifest.txt)
    message(FATAL_ERROR "Nothing is installed from ${BUILD}, or it has been removed; 'cmake --install ${BUILD}' installs it")
endif()
file(STRINGS ${BUILD}/install_manifest.txt files)
list(REMOVE_DUPLICATES files)
set(folders "")
if(EXISTS ${BUILD}/install_folders.txt) # not there: an older build has installed, so no folder is taken for its own
    file(STRINGS ${BUILD}/install_folders.txt folders)
endif()
set(prefixes ${folders})
list(FILTER prefixes INCLUDE REGEX "^prefix:")
list(FILTER folders EXCLUDE REGEX "^prefix:")
list(POP_BACK prefixes prefix)
string(REPLACE "prefix:" "" prefix "${prefix}")
set(removed 0)
foreach(file ${files})
    if(EXISTS "$ENV{DESTDIR}${file}" OR IS_SYMLINK "$ENV{DESTDIR}${file}")
        file(REMOVE "$ENV{DESTDIR}${file}")
        math(EXPR removed "${removed} + 1")
    else()
        message(STATUS "Not there: $ENV{DESTDIR}${file}")
    endif()
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${prefix}" OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    while(prefix AND folder MATCHES "(^|/)clotho")
        list(APPEND folders "${prefix}/${folder}")
        cmake_path(GET folder PARENT_PATH folder)
    endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # what lies in a folder before the folder
foreach(folder ${folders})
    execute_process(COMMAND rmdir -- "$ENV{DESTDIR}${folder}" OUTPUT_QUIET ERROR_QUIET) # never one that is not empty
endforeach()
file(REMOVE ${BUILD}/install_manifest.txt ${BUILD}/install_folders.txt)
message(STATUS "Removed ${removed} files")
