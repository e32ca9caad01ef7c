/* peer_cpp_none.c - no C++ compiler where this was built. */
#include "peers/peer_tables.h"

const peer peers_cpp[] = {{0}};
