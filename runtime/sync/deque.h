/* NOTE FOR HELPER B (not in the repository): there is NO shared deque any more (see run/deque.h: owner-only; run/worker.c: shelf = clo_stack). Committed on main:
 * sync/countdown.h (re-arms itself, hit_many), sync/board.h (new), sync/once.h (runs), stack.h, park.h, gate.h as before. `git pull` from /work/main and model those. */
