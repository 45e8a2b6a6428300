# The glue, model_hopper.so, for the server of PG_CONFIG; and what CREATE EXTENSION reads.
# Makefile.pgxs builds the same from the same files.
foreach(item includedir-server pkglibdir sharedir)
  execute_process(COMMAND ${PG_CONFIG} --${item} OUTPUT_VARIABLE PG_${item}
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# src/pg/server/compat.h refuses these too, once for each file.
file(STRINGS ${PG_includedir-server}/pg_config.h versions REGEX "define (PG|GP)_VERSION")
if(versions MATCHES "GP_VERSION")
  message(FATAL_ERROR "${PG_CONFIG} is Greenplum's: configure with -DHOPPER_GLUE=OFF; scripts/package-greenplum and Makefile.pgxs build "
    "the glue (docs/greenplum.md)")
elseif(versions MATCHES "PG_VERSION_NUM ([0-9]+)")
  math(EXPR major "${CMAKE_MATCH_1} / 10000")
  if(major LESS 15)
    message(FATAL_ERROR "model_hopper needs PostgreSQL 15 or newer; that of ${PG_CONFIG} is of version ${major}")
  elseif(major GREATER 19 AND NOT CMAKE_C_FLAGS MATCHES "HOPPER_NEWER_SERVER")
    message(FATAL_ERROR "PostgreSQL ${major}, that of ${PG_CONFIG}, is newer than 19, the newest known; "
      "-DCMAKE_C_FLAGS=-DHOPPER_NEWER_SERVER among CMAKE_OPTIONS tries it")
  endif()
endif()

file(GLOB_RECURSE glue_sources CONFIGURE_DEPENDS src/pg/*.c)
# Of local/ and greenplum/, which both give what src/pg/backend.h names, a server gets one.
list(FILTER glue_sources EXCLUDE REGEX "/src/pg/greenplum/")
add_library(model_hopper MODULE ${glue_sources})
# Loops over a row's numbers are meant to become vector code.
set_source_files_properties(src/pg/codec/encode.c src/pg/pack/ranges.c PROPERTIES COMPILE_OPTIONS -O3)
# Before version 16 the server's headers mark no symbol as exported: exports.map alone decides.
set_target_properties(model_hopper PROPERTIES PREFIX "" C_VISIBILITY_PRESET default
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/pg/exports.map)
target_include_directories(model_hopper PRIVATE src include)
target_include_directories(model_hopper SYSTEM PRIVATE ${PG_includedir-server})
# The server's headers are more than half of the work on a file.
hopper_precompile(model_hopper server src/pg/server/server_headers.h)
# Reading ours is most of the rest: each folder is compiled as one, so that names that do not leave their
# file are unique in their folder.
if(HOPPER_UNITY)
  set_target_properties(model_hopper PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${glue_sources})
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endif()
target_compile_definitions(model_hopper PRIVATE _GNU_SOURCE HOPPER_VERSION="${PROJECT_VERSION}")
target_compile_options(model_hopper PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter
  -Wno-missing-field-initializers -Wno-sign-compare -fno-strict-aliasing -fwrapv)
if(HOPPER_SANITIZE)
  target_compile_options(model_hopper PRIVATE -fsanitize=${HOPPER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(model_hopper PRIVATE -fsanitize=${HOPPER_SANITIZE})
endif()
target_link_options(model_hopper PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/pg/exports.map)

# One script from one file per object, in this order.
file(GLOB sql_functions CONFIGURE_DEPENDS sql/functions/*.sql)
list(SORT sql_functions)
file(GLOB sql_procedures CONFIGURE_DEPENDS sql/postgres/*.sql)  # what Greenplum 6 has no words for
set(sql_files sql/begin.sql sql/types.sql sql/tables.sql sql/runs.sql ${sql_functions} ${sql_procedures}
  sql/views.sql sql/security.sql)
set(sql_inputs)
foreach(file ${sql_files})
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  list(APPEND sql_inputs ${path})
endforeach()
set(extension_sql ${CMAKE_BINARY_DIR}/model_hopper--${PROJECT_VERSION}.sql)
add_custom_command(OUTPUT ${extension_sql}
  COMMAND cat ${sql_inputs} > ${extension_sql}
  DEPENDS ${sql_inputs} VERBATIM)

# Updates from each earlier version: what is particular to it, then all functions anew. What creates
# no function is the business of that particular part.
set(update_sqls)
file(GLOB updates CONFIGURE_DEPENDS sql/update/*.sql)
foreach(update ${updates})
  get_filename_component(from ${update} NAME_WLE)
  set(update_sql ${CMAKE_BINARY_DIR}/model_hopper--${from}--${PROJECT_VERSION}.sql)
  add_custom_command(OUTPUT ${update_sql}
    COMMAND ${CMAKE_SOURCE_DIR}/sql/make-update ${update} ${sql_inputs} > ${update_sql}
    DEPENDS ${update} ${sql_inputs} ${CMAKE_SOURCE_DIR}/sql/make-update VERBATIM)
  list(APPEND update_sqls ${update_sql})
endforeach()
add_custom_target(extension_sql ALL DEPENDS ${extension_sql} ${update_sqls})

install(TARGETS model_hopper LIBRARY DESTINATION ${PG_pkglibdir})
if(HOPPER_LIBRARIES)
  file(GLOB core_libraries ${HOPPER_LIBRARIES}/libhopper_*.so)
  install(PROGRAMS ${core_libraries} DESTINATION ${PG_pkglibdir})
else()
  install(TARGETS hopper_core LIBRARY DESTINATION ${PG_pkglibdir})
endif()
if(TARGET hopper_torch)
  # keeps the run path to libtorch
  set_target_properties(hopper_torch PROPERTIES INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(TARGETS hopper_torch LIBRARY DESTINATION ${PG_pkglibdir})
endif()
if(TARGET hopper_cuda)
  set_target_properties(hopper_cuda PROPERTIES INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(TARGETS hopper_cuda LIBRARY DESTINATION ${PG_pkglibdir})
endif()
install(FILES ${extension_sql} ${update_sqls} model_hopper.control DESTINATION ${PG_sharedir}/extension)
