# Micro-benchmarks, one program per file of bench/, where Google Benchmark is installed.
find_package(benchmark QUIET)
if(benchmark_FOUND AND TARGET hopper_libtorch)
  add_executable(step_bench EXCLUDE_FROM_ALL bench/step_bench.cpp)
  target_include_directories(step_bench PRIVATE test/unit)
  target_link_libraries(step_bench PRIVATE hopper_engine_torch benchmark::benchmark)
endif()

if(TARGET hopper_libtorch)
  add_executable(roofline EXCLUDE_FROM_ALL bench/roofline.cpp)
  target_include_directories(roofline PRIVATE test/unit)
  target_link_libraries(roofline PRIVATE hopper_autograd)
endif()

if(TARGET hopper_capi_torch)
  add_executable(many_models EXCLUDE_FROM_ALL bench/many_models.cpp)
  target_link_libraries(many_models PRIVATE hopper_capi_torch)
  add_executable(frozen_prefix EXCLUDE_FROM_ALL bench/frozen_prefix.cpp)
  target_link_libraries(frozen_prefix PRIVATE hopper_capi_torch)
endif()

# What bench/gpu runs: needs nothing but the libraries.
if(TARGET hopper_torch AND TARGET hopper_core)
  add_executable(gpu_run EXCLUDE_FROM_ALL bench/gpu_run.cpp)
  target_link_libraries(gpu_run PRIVATE hopper_options hopper_core hopper_torch)
endif()

# A proposal of a search.
add_executable(search_propose EXCLUDE_FROM_ALL bench/search_propose.cpp)
target_link_libraries(search_propose PRIVATE hopper_search)

# What searches find on tables of trained results: bench/search_quality/compare.
add_executable(search_quality EXCLUDE_FROM_ALL bench/search_quality/replay.cpp)
target_link_libraries(search_quality PRIVATE hopper_search)

# GFlop/s of products in float32 and bfloat16.
add_executable(bf16_products EXCLUDE_FROM_ALL bench/bf16_products.cpp)
target_link_libraries(bf16_products PRIVATE hopper_kernels)
