# What aarch64.cmake and riscv64.cmake share; they set CMAKE_SYSTEM_PROCESSOR and the compilers. CLOTHO_SYSROOT is a folder that
# toolchain/sysroot.sh has made: programs are compiled and linked with its headers and libraries, and qemu-user runs them in it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CLOTHO_SYSROOT)
if(NOT CLOTHO_SYSROOT OR NOT EXISTS ${CLOTHO_SYSROOT}/usr/include)
    message(FATAL_ERROR "CLOTHO_SYSROOT is '${CLOTHO_SYSROOT}', which holds no system for ${CMAKE_SYSTEM_PROCESSOR}; run "
        "toolchain/sysroot.sh ${CMAKE_SYSTEM_PROCESSOR} FOLDER and say -DCLOTHO_SYSROOT=FOLDER")
endif()
set(CMAKE_SYSROOT ${CLOTHO_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR}-static -L ${CLOTHO_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CLOTHO_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:${CLOTHO_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CLOTHO_SYSROOT})
