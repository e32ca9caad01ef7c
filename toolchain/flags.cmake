# Language, warnings and sanitizers, for every target through clo_flags. Warnings are errors with CMake's own switch only,
# -DCMAKE_COMPILE_WARNING_AS_ERROR=ON: in CI and in `./dev lint`.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_STANDARD 17) # of what uses clotho.hpp; the library has no C++
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library(clo_flags INTERFACE)
target_compile_options(clo_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> -fno-common -ffp-contract=off
    -ffunction-sections -fdata-sections # a program that is linked with --gc-sections carries only what it calls
    -fno-semantic-interposition) # nobody replaces a function of ours, so it may be inlined though it is exported
target_link_libraries(clo_flags INTERFACE m)
# Plans must be the same bit for bit everywhere: no fused multiply-add behind our back.
target_compile_definitions(clo_flags INTERFACE CLO_VERSION="${PROJECT_VERSION}")

if(CLOTHO_SANITIZE STREQUAL "address")
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(CLOTHO_SANITIZE STREQUAL "thread")
    set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
elseif(CLOTHO_SANITIZE STREQUAL "fuzzer")
    set(sanitizers -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
elseif(NOT CLOTHO_SANITIZE STREQUAL "")
    message(FATAL_ERROR "CLOTHO_SANITIZE is '${CLOTHO_SANITIZE}'; use address, thread, fuzzer or nothing")
endif()
if(sanitizers)
    add_compile_options(${sanitizers})
    add_link_options(${sanitizers})
    find_program(CLOTHO_LLD ld.lld) # quicker than the default linker, for 300 programs
    if(CLOTHO_LLD AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
        add_link_options(-fuse-ld=lld)
    endif()
endif()
