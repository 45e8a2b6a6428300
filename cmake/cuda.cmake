# libhopper_cuda.so: training on GPUs, where the CUDA toolkit and libtorch's CUDA part are found. It is
# linked with the latter and shares its CUDA runtime; libhopper_torch opens it where a GPU is and
# nowhere else, so that what is built here also runs on machines without one.
find_package(CUDAToolkit 12.0 QUIET)
if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
  message(STATUS "CPU-only build: no CUDA toolkit was found")
  return()
endif()
if(NOT EXISTS ${LIBTORCH}/lib/libtorch_cuda.so)
  message(STATUS "CPU-only build: LIBTORCH has no libtorch_cuda.so")
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

set_property(SOURCE src/engine/torch/build_info.cpp src/engine/devices/cuda_devices.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS HOPPER_CUDA_MAJOR=${CUDAToolkit_VERSION_MAJOR})

file(GLOB cuda_sources CONFIGURE_DEPENDS src/engine/cuda/*.cu src/engine/cuda/*.cpp)
add_library(hopper_cuda SHARED ${cuda_sources} ${HOPPER_PORTABLE_OBJECTS})
target_include_directories(hopper_cuda PRIVATE src include)
set_target_properties(hopper_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Shared
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map)
target_compile_options(hopper_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings --fmad=false -Xcompiler=-Wall,-Wextra,-fvisibility=hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>)
# libtorch_cuda's own libraries need not be there to link with it.
target_link_libraries(hopper_cuda PRIVATE hopper_libtorch torch_cuda c10_cuda CUDA::cudart)
target_link_options(hopper_cuda PRIVATE
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/engine/cuda/exports.map -Wl,--exclude-libs,ALL)
