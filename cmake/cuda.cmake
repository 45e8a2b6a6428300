# libhopper_cuda.so, where the CUDA toolkit is found. The CUDA runtime is linked statically and
# libhopper_torch loads the library only where a driver is, so that what is built here also runs
# on machines without a GPU.
find_package(CUDAToolkit 12.0 QUIET)
if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
  message(STATUS "CPU-only build: no CUDA toolkit was found")
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Code for the GPUs of data centres; the driver compiles the virtual one for all others.
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90-real)
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
message(STATUS "CUDA build: toolkit ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

file(GLOB cuda_sources CONFIGURE_DEPENDS src/engine/cuda/*.cu)
list(FILTER cuda_sources EXCLUDE REGEX "/lane_[^/]*$")
add_library(hopper_cuda SHARED ${cuda_sources})
target_include_directories(hopper_cuda PRIVATE src)
set_target_properties(hopper_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map)
target_compile_options(hopper_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings --fmad=false -Xcompiler=-Wall,-Wextra,-fvisibility=hidden>)
target_link_options(hopper_cuda PRIVATE
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map -Wl,--exclude-libs,ALL)

# libhopper_cuda_torch.so: training on GPUs. It is linked with libtorch's CUDA part and shares its
# CUDA runtime; libhopper_torch opens it where a GPU is and nowhere else.
if(NOT TARGET hopper_libtorch OR NOT EXISTS ${LIBTORCH}/lib/libtorch_cuda.so)
  message(STATUS "no training on GPUs: LIBTORCH has no libtorch_cuda.so")
  return()
endif()
file(GLOB cuda_torch_sources CONFIGURE_DEPENDS
  src/engine/cuda/lane_*.cu src/engine/cuda/lane_*.cpp)
add_library(hopper_cuda_torch SHARED ${cuda_torch_sources})
target_include_directories(hopper_cuda_torch PRIVATE src include)
set_target_properties(hopper_cuda_torch PROPERTIES CUDA_RUNTIME_LIBRARY Shared
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map)
target_compile_options(hopper_cuda_torch PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings --fmad=false -Xcompiler=-Wall,-Wextra,-fvisibility=hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>)
# libtorch_cuda's own libraries need not be there to link with it.
target_link_libraries(hopper_cuda_torch PRIVATE hopper_libtorch torch_cuda c10_cuda CUDA::cudart)
target_link_options(hopper_cuda_torch PRIVATE
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map -Wl,--exclude-libs,ALL)
