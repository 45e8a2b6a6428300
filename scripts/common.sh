# Shared by the scripts here (sourced): where the repository and the cache are, and how to say things.
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly SOURCE
export LC_ALL=C.UTF-8

# Build folders of one checkout share compiled files. What a file includes the compiler says (-MD): without
# that ccache preprocesses each file that it does not know before it is compiled.
export CCACHE_BASEDIR=$SOURCE CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1

die() { echo "$(basename "$0"): $*" >&2; exit 1; }
say() { echo "== $*" >&2; }

# Downloads and virtual environments; one folder for all checkouts of a user.
cache_folder() {
  local folder
  if [ -n "${HOPPER_CACHE:-}" ]; then
    folder=$HOPPER_CACHE
  elif [ "$(id -u)" = 0 ]; then
    folder=/var/cache/model_hopper
  else
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/model_hopper
  fi
  mkdir -p "$folder" || die "cannot write $folder; set HOPPER_CACHE to a folder for downloads (1.5 GB)"
  echo "$folder"
}

# Compiles at once: as many as cores, but one per 3 GB of free memory; HOPPER_JOBS overrides.
parallel_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 3145728)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo "${HOPPER_JOBS:-$((cores < memory ? cores : memory))}"
}

# python_environment NAME REQUIREMENTS: a virtual environment with exactly these packages, made
# once per content of the requirements file.
python_environment() {
  local name=$1 requirements=$2 folder hash
  hash=$(sha256sum <"$requirements" | cut -c1-12)
  folder=$(cache_folder)/venv-$name-$hash
  (
    flock 9
    if [ ! -f "$folder/complete" ]; then
      rm -rf "$folder"
      python3 -m venv "$folder" && "$folder/bin/python" -m pip install -q --disable-pip-version-check \
        --root-user-action=ignore -r "$requirements" && touch "$folder/complete"
    fi
  ) 9>"$folder.lock" >&2 ||
    die "cannot install the Python packages of ${requirements#"$SOURCE"/}; give this machine access to a Python package index and run this again"
  echo "$folder"
}

# What sanitizers instrument is compiled by clang, in half of GCC's time; and nothing is inlined that
# does not ask for it, nor unrolled: with its checks each copy is long. Compiling takes twice the time
# with what is inlined, and kernels that are unrolled take many minutes.
SANITIZED_FLAGS="-O1 -g1 -mllvm -inline-threshold=0 -mllvm -pragma-unroll-threshold=0 -Wno-pass-failed"
clang_compiler() {
  command -v clang++-14 || command -v clang++ || die "no clang++: scripts/install-needs test installs it"
}

# sanitized_build LOG TARGET...: the parts without libtorch, the C boundary, their tests and the fuzz
# targets, with ASan and UBSan, in build/sanitized: objects marked for libFuzzer do for the tests too.
sanitized_build() {
  local log=$1 build=$SOURCE/build/sanitized clang
  shift
  clang=$(clang_compiler)
  mkdir -p "$build"
  (
    flock 9  # tests and fuzz targets may be wanted at the same time
    cmake -G Ninja -S "$SOURCE" -B "$build" -DCMAKE_CXX_COMPILER="$clang" \
      -DCMAKE_C_COMPILER="${clang/++/}" -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=$SANITIZED_FLAGS" \
      -DHOPPER_SANITIZE=address,undefined -DHOPPER_FUZZ=ON -DHOPPER_PRECOMPILE=ON -DHOPPER_UNITY=16 -DLIBTORCH= \
      -DHOPPER_GLUE=OFF -DHOPPER_CUDA=OFF -DHOPPER_BENCH=OFF >"$log" 2>&1 || { cat "$log" >&2; die "configuring failed"; }
    ninja -C "$build" -j"$(parallel_jobs)" --quiet "$@" >"$log" 2>&1 || { tail -60 "$log" >&2; die "compiling failed"; }
  ) 9>"$build/compile.lock"
}

# copy_libtorch BUILD FOLDER: what BUILD's libhopper_torch.so is linked with, and what that is linked with, but
# for the system's own: beside one another, where the RPATH of libtorch's libraries, $ORIGIN, finds them.
copy_libtorch() {
  local build=$1 folder=$2 needed name path
  needed=$(ldd "$build/libhopper_torch.so")
  ! grep 'not found' <<<"$needed" || die "libraries are missing on this machine"
  while read -r name path; do
    case $name in
      libtorch* | libc10* | libgomp* | libcudart* | libcupti* | libshm* | libmkl* | libiomp*)
        cp -L "$path" "$folder/$name" ;;
    esac
  done < <(awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' <<<"$needed")
  [ -f "$folder/libtorch_cpu.so" ] || die "libhopper_torch.so does not know where libtorch is"
}

# set_rpath LIBRARY RPATH
set_rpath() {
  local script
  script=$(mktemp)
  printf 'file(RPATH_SET FILE "%s" NEW_RPATH "%s")\n' "$1" "$2" >"$script"
  cmake -P "$script" >/dev/null
  rm "$script"
}

# libtorch_licences BUILD: the files of libtorch's licence.
libtorch_licences() {
  local library
  library=$(ldd "$1/libhopper_torch.so" | awk '$1 == "libtorch_cpu.so" {print $3}')
  find "$(dirname "$library")"/../.. -path '*torch-*.dist-info/licenses/*' \( -name LICENSE -o -name NOTICE \) 2>/dev/null
}

# the_version: that of model_hopper.
the_version() { sed -n "s/^default_version = '\(.*\)'/\1/p" "$SOURCE/model_hopper.control"; }
