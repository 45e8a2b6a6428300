# The kernel files: one instruction set each, chosen by the processor at run time. Sums may be fused
# (the numerics class names the set), NaN and infinity keep their meaning.
set(kernel_options -O3 -ffp-contract=fast -fno-trapping-math -Wno-psabi)
if(HOPPER_SANITIZE)
  list(APPEND kernel_options -O1)  # compiled ten times as fast; their bits are tested without
endif()
set(wide_options ${kernel_options})
if(HOPPER_SANITIZE)
  list(APPEND wide_options -O0)  # clang takes minutes for vectors of 512 bits with all checks
endif()
set_source_files_properties(src/kernels/kernels_baseline.cpp PROPERTIES
  COMPILE_OPTIONS "${kernel_options}")
set_source_files_properties(src/kernels/bf16_baseline.cpp PROPERTIES
  COMPILE_OPTIONS "${kernel_options}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(src/kernels/kernels_avx2.cpp PROPERTIES
    COMPILE_OPTIONS "${kernel_options};-mavx2;-mfma")
  set_source_files_properties(src/kernels/kernels_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "${wide_options};-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mfma;-mprefer-vector-width=512")
  set_source_files_properties(src/kernels/bf16_avx2.cpp PROPERTIES
    COMPILE_OPTIONS "${kernel_options};-mavx2;-mfma")
  set_source_files_properties(src/kernels/bf16_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "${wide_options};-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mavx512bf16;-mfma;-mprefer-vector-width=512")
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag("-mamx-tile -mamx-bf16" HOPPER_COMPILES_AMX)
  if(HOPPER_COMPILES_AMX)
    set_source_files_properties(src/kernels/bf16_amx.cpp PROPERTIES
      COMPILE_OPTIONS "${wide_options};-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mavx512bf16;-mamx-tile;-mamx-bf16;-mfma;-mprefer-vector-width=512")
  endif()
endif()
