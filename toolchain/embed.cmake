# Lists the boards: clo_embed_platforms(OUTPUT NAMES FILE...) writes the table that runtime/platform/file/shipped.h declares. The
# files of the list NAMES become part of it. Runs when CMake configures, and again when a file changes. The summary is the file's own
# info clotho.summary.
function(clo_embed_platforms output whole)
    set(arrays "")
    set(rows "")
    set(count 0)
    foreach(file ${ARGN})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        get_filename_component(name ${file} NAME_WE)
        file(READ ${file} text)
        if(NOT text MATCHES "name=\"clotho.summary\" value=\"([^\"\\]+)\"")
            message(FATAL_ERROR "${file}: no info clotho.summary, or one with a quote or a backslash")
        endif()
        set(summary "${CMAKE_MATCH_1}")
        math(EXPR count "${count} + 1")
        if(NOT name IN_LIST whole)
            string(APPEND rows "    {\"${name}\", \"${summary}\", NULL, 0},\n")
            continue()
        endif()
        # Without what the reader does not read, and the blanks between elements.
        string(REGEX REPLACE " (complete|allowed)_(cpuset|nodeset)=\"[^\"]*\"" "" text "${text}")
        string(REGEX REPLACE " (gp_index|cache_linesize|cache_associativity|dont_merge|subkind)=\"[^\"]*\"" "" text "${text}")
        string(REGEX REPLACE ">[ \n]+<" "><" text "${text}")
        string(HEX "${text}" hex)
        string(LENGTH "${hex}" digits)
        math(EXPR bytes "${digits} / 2")
        string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND arrays "static const unsigned char file_${count}[] = {\n${hex}};\n")
        string(APPEND rows "    {\"${name}\", \"${summary}\", file_${count}, ${bytes}},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${output} CONTENT [[
/* Made by toolchain/embed.cmake. */
#include "platform/file/shipped.h"

@arrays@
const clo_shipped_file clo_shipped_files[] = {
@rows@    {"uniform", "P equal executors in one memory: uniform:P, alone P = 4", NULL, 0},
    {NULL, NULL, NULL, 0},
};
const uint32_t clo_shipped_files_count = @count@;
]] @ONLY)
endfunction()
