/* 17_camera.cpp - a camera pipeline on CPUs, an NPU and a GPU: 30 frames at 30 Hz, of which three are in flight. */
#include <clotho/clotho.hpp>
#include <cstdio>
#include <thread>
#include <unistd.h>
using namespace std::chrono_literals;

struct device { /* an accelerator: a thread that takes the time of each request out of a pipe, and ends it */
    using request = std::pair<clo::token, clo::nanoseconds>;
    int ends[2] = {-1, -1}, failed = pipe(ends); /* then its requests fail */
    std::thread hardware{[this] {
        for (request r; read(ends[0], &r, sizeof r) == ssize_t{sizeof r}; r.first.complete())
            std::this_thread::sleep_for(r.second);
    }};
    clo::outcome start(const clo_call &call)
    {
        const request r{clo::take_token(call), clo::nanoseconds(call.expected_ns)};
        return write(ends[1], &r, sizeof r) == ssize_t{sizeof r} ? clo::pending : clo::outcome{1};
    }
    ~device()
    {
        close(ends[1]), hardware.join(), close(ends[0]);
    }
};

int main(int argc, char **argv)
try {
    clo::platform board(argc > 1 ? argv[1] : "native+examples/17_soc.xml");
    clo::runtime runtime(board);
    device npu, gpu;
    clo::graph g("camera");
    auto on_cpu = [](const clo_call &call, auto &&...) { return clo::outcome{clo_body_spin(&call)}; };
    auto on = [](device &chip) { return [&chip](const clo_call &call, auto &&...) { return chip.start(call); }; };
    auto capture = g.add_array<char>({"capture", 300us}, 4147200, on_cpu);
    auto debayer = g.add_array<char>(clo::about("debayer", 3500us).may_pend(), 6220800, on_cpu, capture);
    auto denoise = g.add_array<char>(clo::about("denoise", 5200us).may_pend(), 6220800, on_cpu, debayer);
    auto resize = g.add_array<char>({"resize", 1200us}, 1228800, on_cpu, denoise);
    auto detect = g.add_array<char>(clo::about("detect").may_pend(), 65536, nullptr, resize);
    auto depth = g.add_array<char>(clo::about("depth").may_pend(), 307200, nullptr, resize);
    auto nms = g.add_array<char>({"nms", 700us}, 8192, on_cpu, detect);
    auto flow = g.add_array<char>({"flow", 8ms}, 614400, on_cpu, denoise);
    auto track = g.add_array<char>({"track", 1600us}, 8192, on_cpu, nms, flow);
    auto fuse = g.add_array<char>({"fuse", 1400us}, 16384, on_cpu, track, depth);
    auto overlay = g.add_array<char>(clo::about("overlay", 2ms).may_pend(), 6220800, on_cpu, fuse, denoise);
    g.add({"publish", 300us}, on_cpu, overlay);
    g.on(detect, "npu", 12500us, on(npu)), g.on(depth, "npu", 9ms, on(npu)), g.on(debayer, "gpu", 1800us, on(gpu));
    g.on(denoise, "gpu", 2500us, on(gpu)), g.on(overlay, "gpu", 900us, on(gpu));
    g.seal();
    clo::cost cost(g, board);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    config.period_ns = 33333333, config.releases = 30, config.releases_in_flight = 3;
    clo::plan plan(cost, clo::nanoseconds(config.period_ns));
    clo::job job(runtime, cost, plan, config);
    job.run();
    clo_job_timing t = job.timing();
    std::printf("%d frames, response p50 %lld us\n", int(t.finished), (long long)t.response_ns.p50_ns / 1000);
    return t.finished == 30 ? 0 : 1;
} catch (const std::exception &e) {
    return std::fprintf(stderr, "camera: %s\n", e.what()), 1;
}
