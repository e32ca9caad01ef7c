"""Spack: `spack repo add packaging/spack` with this file as packages/clotho/package.py, then `spack dev-build clotho@0.2.0` in the tree."""
from spack.package import *


class Clotho(CMakePackage):
    """Plans and runs task graphs on heterogeneous multicore systems."""

    license("Apache-2.0 AND MIT")

    version("0.2.0")

    variant("lp", default=False, description="Linear programs of plans of workloads")
    variant("mpi", default=False, description="Plans over several machines")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("expat")
    depends_on("userspace-rcu")
    depends_on("cjson")
    depends_on("clp", when="+lp")
    depends_on("mpi", when="+mpi")

    conflicts("platform=darwin", msg="clotho needs Linux")
    conflicts("platform=windows", msg="clotho needs Linux")

    def cmake_args(self):
        return [
            self.define_from_variant("CLOTHO_LP", "lp"),
            self.define_from_variant("CLOTHO_MPI", "mpi"),
            self.define("CLOTHO_PYTHON", False),
            self.define("CLOTHO_RPC", False),
        ]
