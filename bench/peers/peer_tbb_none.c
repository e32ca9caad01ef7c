/* peer_tbb_none.c - stands in for peer_tbb.cpp where oneTBB is not installed. */
#include "peers/peer_tables.h"

const peer loops_tbb[] = {{0}};
const peer peers_tbb[] = {{0}};
