// The emulator has no runtime for the host's code. The words of the device's code come with its own header.
#pragma once

#include "../emulator.hpp"
