// The C library's <assert.h>, whose assert ends the process; here it ends the launch. Like it, this may be included again
// with another NDEBUG.
#include_next <assert.h>

#if !defined(NDEBUG)
#undef assert
#define assert(condition) ((condition) ? void() : ::emulator::fail_assertion(#condition, __FILE__, __LINE__))
#endif
