SUMMARY = "Plans and runs task graphs on heterogeneous multicore systems"
LICENSE = "Apache-2.0 & MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# expat and liburcu are in oe-core; hwloc and cjson in meta-oe.
DEPENDS = "hwloc expat cjson liburcu"

# The tree that this layer is a part of; for a release: SRC_URI and SRCREV of its archive in place of these two lines.
inherit externalsrc
EXTERNALSRC = "${THISDIR}/../.."

inherit cmake pkgconfig

EXTRA_OECMAKE = "-DCLOTHO_MPI=OFF -DCLOTHO_PYTHON=OFF -DCLOTHO_LP=OFF -DCLOTHO_RPC=OFF"

# The boards that the library knows, the command, its completions and the static libraries are packages of their own.
PACKAGES =+ "${PN}-boards ${PN}-tools"
FILES:${PN}-boards = "${datadir}/clotho/platforms"
FILES:${PN}-tools = "${bindir} ${datadir}/bash-completion ${datadir}/zsh ${datadir}/fish"
RRECOMMENDS:${PN} = "${PN}-boards"
RDEPENDS:${PN}-tools = "${PN} ${PN}-boards"
