# Finds the headers of CUPTI and of CUDA that this folder is compiled with. Nothing is ever linked: the library itself is opened at run time.
#
# Sets XSIGMA_PROFILER_CUPTI_INCLUDES, or XSIGMA_PROFILER_MISSING_CUDA: why there is nothing to compile with, and what to do.
set(XSIGMA_CUPTI_ROOT "" CACHE PATH "Where the headers of CUPTI are: a CUDA toolkit, or a folder with an include folder")

# The folders among <ARGN> that together have every header; empty if one is missing.
function(xsigma_cupti_includes out)
  set(found "")
  foreach(header IN ITEMS cupti_activity.h cuda.h builtin_types.h crt/host_defines.h)
    set(place "")
    foreach(folder IN LISTS ARGN)
      if(EXISTS ${folder}/${header})
        set(place ${folder})
        break()
      endif()
    endforeach()
    if(NOT place)
      set(${out} "" PARENT_SCOPE)
      return()
    endif()
    list(APPEND found ${place})
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# The layouts of a toolkit, and of the Python packages: one folder for all (CUDA 13), one for each package (CUDA 12).
function(xsigma_cupti_layouts out root)
  set(${out}
    ${root}/include ${root}/extras/CUPTI/include
    ${root}/cuda_cupti/include ${root}/cuda_runtime/include ${root}/cuda_nvcc/include ${root}/cuda_crt/include
    ${root} PARENT_SCOPE)
endfunction()

function(xsigma_find_cupti)
  if(XSIGMA_CUPTI_ROOT)
    set(roots ${XSIGMA_CUPTI_ROOT} ${XSIGMA_CUPTI_ROOT}/nvidia/cu13 ${XSIGMA_CUPTI_ROOT}/nvidia)
  else()
    set(roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
    find_program(XSIGMA_NVCC nvcc)
    mark_as_advanced(XSIGMA_NVCC)
    if(XSIGMA_NVCC)
      file(REAL_PATH ${XSIGMA_NVCC} nvcc)
      cmake_path(GET nvcc PARENT_PATH bin)
      cmake_path(GET bin PARENT_PATH toolkit)
      list(APPEND roots ${toolkit})
    endif()
    find_program(XSIGMA_PYTHON python3)
    mark_as_advanced(XSIGMA_PYTHON)
    if(XSIGMA_PYTHON)
      execute_process(COMMAND ${XSIGMA_PYTHON} -c "import site, sys; print(';'.join(p for p in sys.path + [site.getusersitepackages()] if p))"
        OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      foreach(folder IN LISTS packages)
        list(APPEND roots ${folder}/nvidia/cu13 ${folder}/nvidia)
      endforeach()
    endif()
    # where setup.sh of this folder puts them
    list(APPEND roots ${PROJECT_BINARY_DIR}/cuda-headers ${PROJECT_SOURCE_DIR}/build/cuda-headers)
  endif()
  list(REMOVE_DUPLICATES roots)

  set(old "")
  foreach(root IN LISTS roots)
    xsigma_cupti_layouts(folders ${root})
    xsigma_cupti_includes(includes ${folders})
    if(NOT includes)
      continue()
    endif()
    # CUDA's version: CUPTI's own does not tell 11.8 from 12.0
    list(TRANSFORM includes APPEND /cuda.h OUTPUT_VARIABLE candidates)
    foreach(candidate IN LISTS candidates)
      if(EXISTS ${candidate})
        file(STRINGS ${candidate} line REGEX "^#define CUDA_VERSION +[0-9]+" LIMIT_COUNT 1)
        break()
      endif()
    endforeach()
    string(REGEX MATCH "[0-9]+$" version "${line}")
    if(NOT version OR version LESS 12000)
      string(APPEND old " ${root} has those of an older one (${line}).")
      continue()
    endif()
    math(EXPR major "${version} / 1000")
    math(EXPR minor "(${version} % 1000) / 10")
    message(STATUS "xsigma_profiler: CUDA: CUPTI headers ${major}.${minor} from ${root}")
    set(XSIGMA_PROFILER_CUPTI_INCLUDES ${includes} PARENT_SCOPE)
    return()
  endforeach()

  set(XSIGMA_PROFILER_MISSING_CUDA
    "no headers of CUPTI 12.0 or later (cupti_activity.h, cuda.h, builtin_types.h, crt/host_defines.h) were found.${old} \
Install a CUDA toolkit, or the Python packages nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-cuda-crt, or run tools/setup.sh test; \
-DXSIGMA_CUPTI_ROOT=<folder> names another place" PARENT_SCOPE)
endfunction()

if(XSIGMA_ENABLE_CUDA)
  xsigma_find_cupti()
endif()
