# Read by CMake after llama.cpp's own project() (see model-venv): the Python package asks for the
# library of the command line tools without using it, and it is a third of the build.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "not used here" FORCE)
