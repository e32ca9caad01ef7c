/* device/drivers/bell.h - what callbacks of a driver ring: on any thread, also after its device was closed. The last user
 * frees it. */
#ifndef CLO_DEVICE_DRIVERS_BELL_H
#define CLO_DEVICE_DRIVERS_BELL_H

typedef struct clo_bell clo_bell;

/* With one user; NULL: no memory or no descriptor. */
clo_bell *clo_bell_make(void);

/* Readable once it was rung, until it is read. */
int clo_bell_fd(const clo_bell *bell);

/* One more user, such as a callback that is to come; and one less. */
void clo_bell_use(clo_bell *bell);
void clo_bell_leave(clo_bell *bell);

void clo_bell_ring(clo_bell *bell);

/* Until it is rung again. */
void clo_bell_silence(clo_bell *bell);

#endif
