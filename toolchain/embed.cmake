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

# The hash of a text as policies of web pages name it (CSP 3): "sha256-" and base64.
function(clo_page_hash text out)
    set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    string(SHA256 hex "${text}")
    set(hash "")
    foreach(at RANGE 0 60 3)
        string(SUBSTRING ${hex} ${at} 3 digits)
        math(EXPR high "0x${digits} >> 6")
        math(EXPR low "0x${digits} & 63")
        string(SUBSTRING ${letters} ${high} 1 first)
        string(SUBSTRING ${letters} ${low} 1 second)
        string(APPEND hash ${first}${second})
    endforeach()
    string(SUBSTRING ${hex} 63 1 digit)
    math(EXPR last "0x${digit} << 2")
    string(SUBSTRING ${letters} ${last} 1 first)
    set(${out} "sha256-${hash}${first}=" PARENT_SCOPE)
endfunction()

# Bytes of a C array.
function(clo_bytes text out)
    string(HEX "${text}" hex)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    set(${out} "${hex}" PARENT_SCOPE)
endfunction()

# The style and the scripts of report pages: clo_embed_page(OUTPUT STYLE SCRIPT...) writes what runtime/report/page/assets.h declares.
function(clo_embed_page output style)
    set(script "")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${style} ${ARGN})
    foreach(file ${ARGN})
        file(READ ${file} text)
        string(APPEND script "${text}")
    endforeach()
    file(READ ${style} text)
    clo_bytes("${text}" style_bytes)
    clo_bytes("${script}" script_bytes)
    clo_page_hash("${script}" hash)
    file(CONFIGURE OUTPUT ${output} CONTENT [[
/* Made by toolchain/embed.cmake. */
#include "report/page/assets.h"

const unsigned char clo_page_style[] = {
@style_bytes@};
const size_t clo_page_style_bytes = sizeof clo_page_style;
const unsigned char clo_page_script[] = {
@script_bytes@};
const size_t clo_page_script_bytes = sizeof clo_page_script;
const char clo_page_script_hash[] = "@hash@";
]] @ONLY)
endfunction()
