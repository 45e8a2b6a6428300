# hopper_libtorch: headers and libraries of the libtorch under LIBTORCH, without TorchConfig.cmake,
# which would insist on CUDA's development files.
if(NOT LIBTORCH)
  message(WARNING "LIBTORCH is not set: only the parts without libtorch are built. scripts/libtorch prints a folder for -DLIBTORCH=")
  return()
endif()
if(NOT EXISTS ${LIBTORCH}/include/ATen/ATen.h)
  message(FATAL_ERROR "LIBTORCH=${LIBTORCH} holds no include/ATen/ATen.h; run scripts/libtorch and pass the folder that it prints")
endif()
# The version stands in another header of newer ones.
set(torch_version)
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT torch_version AND EXISTS ${LIBTORCH}/include/${header})
    file(STRINGS ${LIBTORCH}/include/${header} torch_version REGEX "define TORCH_VERSION_(MAJOR|MINOR) ")
    string(REGEX REPLACE "[^0-9]+" "." torch_version "${torch_version}")
  endif()
endforeach()
string(REGEX MATCH "[0-9]+\\.[0-9]+" torch_version "${torch_version}")
if(torch_version AND torch_version VERSION_LESS 2.6)
  message(FATAL_ERROR "libtorch 2.6 or newer is needed; that of LIBTORCH=${LIBTORCH} is of version ${torch_version}. scripts/libtorch prints the folder of one")
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
