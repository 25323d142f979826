#pragma once

#include "cuda_runtime.h"
#include "../tensor_maps.hpp"
