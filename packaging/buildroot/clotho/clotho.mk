################################################################################
#
# clotho
#
################################################################################

CLOTHO_VERSION = 0.2.0
# The tree that this folder is a part of; for a release: the address of its archive.
CLOTHO_SITE = $(CLOTHO_PKGDIR)/../../..
CLOTHO_SITE_METHOD = local
CLOTHO_LICENSE = Apache-2.0, MIT
CLOTHO_LICENSE_FILES = LICENSE NOTICE
CLOTHO_INSTALL_STAGING = YES
CLOTHO_DEPENDENCIES = host-pkgconf liburcu
CLOTHO_CONF_OPTS = \
	-DCLOTHO_HWLOC=OFF \
	-DCLOTHO_IO=OFF \
	-DCLOTHO_LP=OFF \
	-DCLOTHO_RPC=OFF \
	-DCLOTHO_MPI=OFF \
	-DCLOTHO_PYTHON=OFF

$(eval $(cmake-package))
