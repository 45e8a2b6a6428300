# Micro-benchmarks, one program per file of bench/, where Google Benchmark is installed.
find_package(benchmark QUIET)
if(benchmark_FOUND AND TARGET hopper_libtorch)
  add_executable(step_bench EXCLUDE_FROM_ALL bench/step_bench.cpp)
  target_include_directories(step_bench PRIVATE test/unit)
  target_link_libraries(step_bench PRIVATE hopper_train benchmark::benchmark)
endif()
