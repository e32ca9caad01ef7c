/* device/queue.h - requests from the slots' threads to the device's. */
#ifndef CLO_DEVICE_QUEUE_H
#define CLO_DEVICE_QUEUE_H

#include "device/state.h"

/* New requests, all free, whose calls have room for so many inputs and handles. CLO_ERR_STATE: something is
 * outstanding. */
clo_status clo_device_make_requests(clo_device *device, uint32_t inputs, uint32_t data);

/* This process was forked from the one that has opened the device. */
bool clo_device_is_forked(const clo_device *device);

/* A free request with a copy of the call; NULL: none is free, or the call has more inputs or handles than the graphs
 * that were prepared, which is counted. */
clo_request *clo_device_take_request(clo_device *device, const clo_call *call);

void clo_device_free_request(clo_device *device, clo_request *request);

/* Behind all others; wakes the thread. */
void clo_device_enqueue(clo_device *device, clo_request *request);

/* The thread's. The oldest; NULL: there is none, or the driver is held. */
clo_request *clo_device_dequeue(clo_device *device);

/* The caller may call the driver until clo_device_let_go. CLO_ERR_STATE: something is outstanding, or the device is
 * lost. */
clo_status clo_device_hold(clo_device *device, const char *what);
void clo_device_let_go(clo_device *device);

/* The device is lost. Of the thread, or of who holds the device. */
void clo_device_give_up(clo_device *device, const char *reason);

/* The thread's: sleeps until a request may be there, the driver's fd is readable, or `timeout_ns` have passed (< 0:
 * never). */
void clo_device_sleep(clo_device *device, int64_t timeout_ns);

void clo_device_wake(clo_device *device);

#endif
