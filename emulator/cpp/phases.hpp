// The phases of barriers, as the hardware has them in shared memory: of a cuda::barrier, of a stage of a cuda::pipeline, and
// of a tile of several warps.
#pragma once

#include "copies.hpp"
#include "cuda_words.hpp"

namespace emulator {

EMULATOR_APART void start_phases(Phases &phases, size_t expected, const void *caller, Site site)
{
    observe_word(&phases, "a barrier", true, caller, site);
    phases = {uint16_t(expected), uint16_t(expected), 0, 0};
}

// Begins the next phase if this one is over.
EMULATOR_APART void end_phase(Phases &phases, Site site)
{
    if (phases.left != 0 || phases.bytes > 0)
        return;
    Worker &worker = this_worker();
    if (phases.bytes < 0)
        fail(worker, Failure::barrier,
             "%s ends a phase of the barrier at %s:%d, which waits for %d bytes fewer than copies bring",
             ThreadName(worker, *worker.current).text, site.file, site.line, -phases.bytes);
    counting::land_copies(phases.flag(phases.over));
    phases.left = phases.expected;
    ++phases.over;
    worker.has_news = true;
}

// Returns the phase in which the thread has arrived.
EMULATOR_APART uint32_t arrive(Phases &phases, size_t count, size_t dropped, const void *caller, Site site)
{
    Worker &worker = this_worker();
    observe_word(&phases, "a barrier", false, caller, site); // Seen as a read: it races with the start alone.
    const uint32_t phase = phases.over;
    if (count > phases.left)
        fail(worker, Failure::barrier,
             "%s arrives at the barrier at %s:%d, where it waits for nobody: %u more are expected",
             ThreadName(worker, *worker.current).text, site.file, site.line, phases.left);
    counting::release_at_phase(phases.flag(phase));
    phases.left = uint16_t(phases.left - count);
    phases.expected = uint16_t(phases.expected - dropped);
    end_phase(phases, site);
    return phase;
}

// Waits until the phase is over.
EMULATOR_APART void wait_for_phase(const Phases &phases, uint32_t phase, const void *caller, Site site)
{
    Worker &worker = this_worker();
    observe_word(&phases, "a barrier", false, caller, site);
    while (int32_t((phases.over - phase) << 22) <= 0)
        wait_for_news(worker, phases, site);
    counting::learn_at_phase(phases.flag(phase));
}

} // namespace emulator
