// The testbench of petal-verilator: drives the Verilated module `toplevel` once.
//
//   simulation CYCLE_LIMIT VCD [+DATA=DIR]
//
// VCD is the file to trace to, or an empty string. What the testbench has to say goes to standard output, one line each:
//   progress N   the run is in cycle N
//   done N       `done` was seen after N cycles
//   limit N      `done` was not seen within the limit of N cycles; the run ends there as if it were
//   stopped N    the design stopped the run in cycle N ($fatal, $error, $stop, $finish); -1: during reset
// All that the design prints goes to standard error.

#include "Vtoplevel.h"
#include "verilated.h"
#if VM_TRACE_VCD
#include "verilated_vcd_c.h"
#endif

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace {

constexpr int kResetCycles = 3;
constexpr uint64_t kPeriod = 10;  // in nanoseconds; clk rises in the middle
constexpr uint64_t kClockCheckMask = 0x7f;  // look at the wall clock every 128 cycles
constexpr std::chrono::milliseconds kProgressInterval{100};

int report_fd = -1;
int64_t cycle = -1;

#if VM_TRACE_VCD
std::unique_ptr<VerilatedVcdC> trace;
#endif

void dump(uint64_t time) {
#if VM_TRACE_VCD
    if (trace) trace->dump(time);
#else
    (void)time;
#endif
}

void close_trace() {
#if VM_TRACE_VCD
    // Released first: closing may itself fail and come back here through vl_fatal.
    if (const std::unique_ptr<VerilatedVcdC> closing = std::move(trace)) closing->close();
#endif
}

[[noreturn]] void end_run(const char* outcome, long long cycles) {
    close_trace();
    std::fflush(nullptr);
    dprintf(report_fd, "%s %lld\n", outcome, cycles);
    std::_Exit(0);
}

}  // namespace

void vl_fatal(const char* filename, int linenum, const char*, const char* msg) {
    if (filename && filename[0]) {
        VL_PRINTF("%s:%d: %s\n", filename, linenum, msg);
    } else {
        VL_PRINTF("%s\n", msg);
    }
    end_run("stopped", cycle);
}

// Verilator's only warnings at run time: a memory file is missing or too short.
void vl_warn(const char* filename, int linenum, const char* hier, const char* msg) {
    vl_fatal(filename, linenum, hier, msg);
}

void vl_stop(const char*, int, const char*) { end_run("stopped", cycle); }

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const int64_t limit = std::strtoll(argv[1], nullptr, 10);
    const char* const vcd = argv[2];

    report_fd = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);

    VerilatedContext context;
    context.commandArgs(argc, argv);
    context.traceEverOn(vcd[0] != '\0');
    Vtoplevel top{&context};
#if VM_TRACE_VCD
    if (vcd[0]) {
        trace = std::make_unique<VerilatedVcdC>();
        top.trace(trace.get(), 99);
        trace->open(vcd);
        if (!trace->isOpen()) vl_fatal(vcd, 0, "", "cannot be written");
    }
#endif

    uint64_t time = 0;
    const auto settle = [&] {
        context.time(time);
        top.clk = 0;
#if PETAL_TICK
        top.tick = !top.tick;
#endif
        top.eval();
        dump(time);
    };
    const auto rise = [&] {
        context.time(time + kPeriod / 2);
        top.clk = 1;
        top.eval();
#if !PETAL_TICK
        dump(time + kPeriod / 2);
#endif
        time += kPeriod;
    };

    top.reset = 1;
    top.go = 0;
    for (int i = 0; i < kResetCycles; ++i) {
        settle();
        rise();
    }

    top.reset = 0;
    top.go = 1;
    auto last_progress = std::chrono::steady_clock::now();
    cycle = 0;
    for (;;) {
        settle();
        if (context.gotFinish()) end_run("stopped", cycle);
        if (top.done || cycle == limit) break;
        // What is printed after an edge is mostly a check of the new values, so it belongs to the next cycle.
        ++cycle;
        rise();
        if (context.gotFinish()) end_run("stopped", cycle);
        if ((cycle & kClockCheckMask) == 0) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last_progress >= kProgressInterval) {
                last_progress = now;
                dprintf(report_fd, "progress %lld\n", static_cast<long long>(cycle));
            }
        }
    }

    const bool done = top.done;
    // The last cycle's rising edge closes the trace, but the design must not see it: the run is over, and another edge
    // with `go` high could change a memory. The second eval only makes the trace look at the signals again.
    top.eval();
#if PETAL_TICK
    top.tick = !top.tick;
    dump(time + kPeriod);
#else
    top.clk = 1;
    dump(time + kPeriod / 2);
#endif
    top.final();
    end_run(done ? "done" : "limit", cycle);
}
