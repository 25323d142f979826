// Shared memory whose size the host chooses at launch.
#pragma once

// The block's dynamic shared memory as an array of elements. Declared as bytes, since all the element types of one
// translation unit share its name.
template <typename Element>
__device__ Element *dynamic_shared()
{
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
    return reinterpret_cast<Element *>(dynamic_shared_bytes);
}
