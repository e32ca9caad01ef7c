/* inits.h - every INIT of the headers in every place where a program may write one; compiled as C and as C++. */
#include <clotho/clotho.h>
#include <clotho/rpc.h>

int inits(void);

int inits(void)
{
    clo_task task = CLO_TASK_INIT;
    const clo_task constant = CLO_TASK_INIT;
    clo_generate_config generate = CLO_GENERATE_CONFIG_INIT;
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_plan_config plan = CLO_PLAN_CONFIG_INIT;
    clo_report_config page = CLO_REPORT_CONFIG_INIT;
    clo_platform_desc platform = CLO_PLATFORM_DESC_INIT;
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_bound bound = CLO_BOUND_INIT;
    clo_entry entry = CLO_ENTRY_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;
    clo_workload_job row = CLO_WORKLOAD_JOB_INIT;
    clo_arrivals_config arrivals = CLO_ARRIVALS_CONFIG_INIT;
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_admission_config admission = CLO_ADMISSION_CONFIG_INIT;
    clo_admission_result admitted = CLO_ADMISSION_RESULT_INIT;
    clo_model_desc model = CLO_MODEL_DESC_INIT;
    clo_model_info about = CLO_MODEL_INFO_INIT;
    clo_learned_argument learned = CLO_LEARNED_ARGUMENT_INIT;
    clo_residual_argument residual = CLO_RESIDUAL_ARGUMENT_INIT;
    clo_edges_config edges = CLO_EDGES_CONFIG_INIT;
    clo_service_config service = CLO_SERVICE_CONFIG_INIT;
    clo_service_job served = CLO_SERVICE_JOB_INIT;
    clo_service_report said = CLO_SERVICE_REPORT_INIT;
    clo_session_config session = CLO_SESSION_CONFIG_INIT;
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;
    clo_rpc_service_config remote = CLO_RPC_SERVICE_CONFIG_INIT;
    clo_rpc_config workflow = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_result outcome = CLO_RPC_RESULT_INIT;
    const clo_sim_config configs[2] = {CLO_SIM_CONFIG_INIT, CLO_SIM_CONFIG_INIT};

    return task.work_ns == 0 && edges.size == sizeof edges && constant.name == NULL &&
           generate.size == sizeof generate && load.size == sizeof load && job.size == sizeof job &&
           plan.size == sizeof plan && page.size == sizeof page && platform.size == sizeof platform &&
           runtime.size == sizeof runtime && sim.size == sizeof sim && configs[1].size == sizeof sim &&
           bound.size == sizeof bound && metrics.size == sizeof metrics && result.size == sizeof result &&
           timing.size == sizeof timing && entry.size == sizeof entry && stats.size == sizeof stats &&
           row.size == sizeof row && arrivals.size == sizeof arrivals && header.size == sizeof header &&
           admission.size == sizeof admission && admitted.size == sizeof admitted && stream.size == sizeof stream &&
           report.size == sizeof report && model.size == sizeof model && about.size == sizeof about &&
           learned.size == sizeof learned && residual.size == sizeof residual && service.size == sizeof service &&
           served.size == sizeof served && said.size == sizeof said && session.size == sizeof session &&
           answer.size == sizeof answer && remote.size == sizeof remote && workflow.size == sizeof workflow &&
           call.size == sizeof call && outcome.size == sizeof outcome && sim.execute == 0;
}
