# 64-bit RISC-V, from another machine, by clang: gcc before 13.3 leaves out barriers of atomic operations there (its bug 104831),
# and Debian 12 has gcc 12.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
foreach(language C CXX ASM)
    set(CMAKE_${language}_COMPILER_TARGET riscv64-linux-gnu)
    set(CMAKE_${language}_FLAGS_INIT "--gcc-toolchain=${CMAKE_SYSROOT}/usr")
endforeach()
