// The weights of the filter, which all threads of a warp read at the same time: constant memory gives them all one word at
// a time, without an address in a register. RADIUS is a macro, so that the array is as long as the filter.
#pragma once

__constant__ float weights[2 * RADIUS + 1];
