"""Conan 2: `conan create packaging/conan` builds the tree that this folder is a part of."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps


class Clotho(ConanFile):
    name = "clotho"
    version = "0.2.0"
    license = "Apache-2.0 AND MIT"
    description = "Plans and runs task graphs on heterogeneous multicore systems"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    languages = "C"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "CHANGELOG.md", "LICENSE", "NOTICE", "bindings/*", "include/*", "kernels/*", "platforms/*", "runtime/*",
                        "toolchain/*", "tools/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("hwloc/[>=2.9 <3]")
        self.requires("expat/[>=2.5 <3]")
        self.requires("userspace-rcu/[>=0.11 <1]")
        self.requires("cjson/[>=1.7 <2]")

    def validate(self):
        if self.settings.os != "Linux":
            from conan.errors import ConanInvalidConfiguration
            raise ConanInvalidConfiguration("clotho needs Linux")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("CLOTHO_MPI", "CLOTHO_PYTHON", "CLOTHO_LP", "CLOTHO_RPC"):
            toolchain.cache_variables[name] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        kind = "" if self.options.shared else "_static"
        behind = {"clotho": [], "decide": ["clotho"], "device": ["clotho"], "io": ["decide", "device"]}
        own = {"clotho": ["hwloc::hwloc", "expat::expat", "userspace-rcu::userspace-rcu"], "io": ["cjson::cjson"]}
        self.cpp_info.set_property("cmake_file_name", "clotho")
        for name, others in behind.items():
            part = self.cpp_info.components[name]
            part.libs = ["clotho" if name == "clotho" else "clotho-" + name]
            part.requires = others + own.get(name, [])
            part.system_libs = ["m", "pthread", "dl"]
            part.set_property("cmake_target_name", f"clotho::{name}{kind}")
            part.set_property("pkg_config_name", part.libs[0])
