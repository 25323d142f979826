// cuda::std is the C++ library's own here.
#pragma once

namespace cuda::std {
using namespace ::std;
}
