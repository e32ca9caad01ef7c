/* learn/infer/residual_features.h - feature list 5: what the network of the policy "residual" sees of a job. */
#ifndef CLO_LEARN_INFER_RESIDUAL_FEATURES_H
#define CLO_LEARN_INFER_RESIDUAL_FEATURES_H

/* Number of the list of features of the policy "residual" (clo_model_desc.feature_set). */
#define CLO_FEATURES_RESIDUAL 5

/* The features of a job that its network sees, in order: for the value of a stage all of them, for the value of a limit
 * those before "stays". They are logarithms to base 2, in sixteenths, of times in the unit of "parametric" and of
 * counts + 1. */
enum {
    /* "work": of the unfinished instances; "path": rank_u of the first ready stage */
    CLO_RESIDUAL_WORK = 0,
    CLO_RESIDUAL_PATH = 1,
    /* "executors": those that the job has; "startable", "unfinished": instances */
    CLO_RESIDUAL_EXECUTORS = 2,
    CLO_RESIDUAL_STARTABLE = 3,
    CLO_RESIDUAL_UNFINISHED = 4,
    /* "time": of an instance of the ready stage with the highest rank_u; if none is ready, of the stage that got an
     * executor last */
    CLO_RESIDUAL_TIME = 5,
    /* "drain": the time of the ready instances, divided among the job's executors and one more */
    CLO_RESIDUAL_DRAIN = 6,
    /* "spare": executors that are bound to the job and run nothing */
    CLO_RESIDUAL_SPARE = 7,
    /* "jobs": live jobs */
    CLO_RESIDUAL_JOBS = 8,
    /* "relative": work over the mean work of the live jobs */
    CLO_RESIDUAL_RELATIVE = 9,
    /* "load": startable instances of all jobs over the executors */
    CLO_RESIDUAL_LOAD = 10,
    /* "ready": share of the work that is ready */
    CLO_RESIDUAL_READY = 11,
    /* "idle": executors that run nothing */
    CLO_RESIDUAL_IDLE = 12,
    /* "stays", "waits": 256 if the question is what an executor that stays, or waits, is worth; else 0 */
    CLO_RESIDUAL_STAYS = 13,
    CLO_RESIDUAL_WAITS = 14,
    CLO_RESIDUAL_FEATURES = 15,
    CLO_RESIDUAL_LIMIT_FEATURES = 13
};

#endif
