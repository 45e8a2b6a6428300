# hopper_libtorch: headers and libraries of the libtorch under LIBTORCH, without TorchConfig.cmake,
# which would insist on CUDA's development files.
if(NOT LIBTORCH)
  message(WARNING "LIBTORCH is not set: only the parts without libtorch are built. scripts/libtorch prints a folder for -DLIBTORCH=")
  return()
endif()
if(NOT EXISTS ${LIBTORCH}/include/ATen/ATen.h)
  message(FATAL_ERROR "LIBTORCH=${LIBTORCH} holds no include/ATen/ATen.h; run scripts/libtorch and pass the folder that it prints")
endif()

add_library(hopper_libtorch INTERFACE)
# System headers: their warnings are not ours.
target_include_directories(hopper_libtorch SYSTEM INTERFACE
  ${LIBTORCH}/include ${LIBTORCH}/include/torch/csrc/api/include)
target_link_directories(hopper_libtorch INTERFACE ${LIBTORCH}/lib)
# The CUDA runtime that libtorch_cpu wants is found through its own RPATH at run time.
target_link_options(hopper_libtorch INTERFACE
  -Wl,-rpath,${LIBTORCH}/lib -Wl,--no-as-needed -Wl,--allow-shlib-undefined
  -Wl,-rpath-link,${LIBTORCH}/lib -Wl,-rpath-link,${LIBTORCH}/../nvidia/cu13/lib)
target_link_libraries(hopper_libtorch INTERFACE torch_cpu c10)
