#!/usr/bin/env bash
# use.sh PREFIX PART: what somebody does who has the installation in PREFIX, in an empty folder, as a normal user.
set -euo pipefail
prefix=$1 part=$2
scripts=$prefix/share/iap/scripts docs=$prefix/share/doc/iap/docs examples=$prefix/share/doc/iap/examples
policy=$scripts/paper/policies/cheetah-run.iap
says() { grep -qE -- "$2" "$1" || { echo "expected '$2':"; cat "$1"; exit 1; }; }
if [ "$prefix" != /usr ]; then # as docs/install.md tells
  export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig CMAKE_PREFIX_PATH=$prefix LUA_CPATH="$prefix/lib/lua/5.4/?.so"
  export PYTHONPATH=$prefix/lib/python3/dist-packages LD_LIBRARY_PATH=$prefix/lib
fi

# block FILE LANGUAGE N: the N-th piece of code in that language in a document.
block() {
  awk -v language="$2" -v n="$3" '{bare = $0; sub(/^ */, "", bare)}
    on && bare == "```" {exit}
    on {sub("^" indent, ""); print}
    !on && bare == "```" language && ++found == n {on = 1; indent = $0; sub(/`.*/, "", indent)}' "$docs/$1"
}
# What hosts in any language print of the policy's episode with seed 1; its last bits are the machine's.
expected='^return [5-9][0-9]\.[0-9][0-9]$'

case $part in
  tool)
    [ "$(command -v iap)" = "$prefix/bin/iap" ]
    iap doctor >doctor
    says doctor "^iap +$(iap --version | sed 's/iap //')$"
    says doctor '^MuJoCo +[0-9.]+$'
    iap run "$scripts/quickstart.lua" --set iterations=2 --set optimizer.population=4 --set eval_episodes=2 >quickstart 2>&1 || { cat quickstart; exit 1; }
    says quickstart 'untrained policy .* trained '
    for file in best.iap media/curve.png media/strip.png media/play.webp report.html; do [ -s "runs/quickstart/$file" ]; done
    iap eval runs/quickstart --episodes 2 >eval
    says eval '^mean return'
    iap eval "$policy" --episodes 2 >eval
    says eval '^mean return +[0-9]+'
    iap verify cheetah-run.iap >verify || { cat verify; exit 1; }
    says verify '^passed, (same|within) .*cheetah-run.iap'
    echo '=6*7' | iap >repl 2>&1 || { cat repl; exit 1; }
    says repl '^42$'
    # docs/tasks.md, word by word
    block tasks.md xml 1 >two_poles.xml
    block tasks.md lua 1 >two_poles.lua
    block tasks.md lua 2 >train.lua
    iap check two_poles.lua >check || { cat check; exit 1; }
    says check '^kept: [0-9]+ of [0-9]+ rules'
    iap run train.lua >train 2>&1 || { cat train; exit 1; }
    says train '^return [0-9.]+ before, 4[0-9][0-9]\.[0-9] after training'
    iap play runs/two_poles >play 2>&1
    iap play runs/two_poles --strip 6 >>play 2>&1
    [ -s runs/two_poles/media/play.webp ] && [ -s runs/two_poles/media/strip.png ] || { cat play; exit 1; }
    iap new own --task mujoco >new
    iap check own/task.lua >check || { cat check; exit 1; }
    says check 'kept'
    ;;
  live)
    iap doctor >doctor
    says doctor '^windows +/usr/lib/.*libiap-live.so$'
    iap play "$policy" --live >live 2>&1 && exit 1
    says live '^no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set'
    ;;
  openmpi | mpich)
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none
    mpirun.$part -n 2 iap doctor >doctor 2>&1 || { cat doctor; exit 1; }
    says doctor "^ +rank 1 on $(hostname): "
    mpirun.$part -n 3 iap eval "$policy" --episodes 4 --csv ranks.csv --threads 1 >eval 2>&1 || { cat eval; exit 1; }
    iap eval "$policy" --episodes 4 --csv alone.csv >eval 2>&1
    cmp ranks.csv alone.csv
    ;;
  lua)
    echo 'print(#require("iap").policy.load(arg[1]):parameters())' >count.lua
    lua5.4 count.lua "$policy" >count
    says count '^[0-9]+$'
    ;;
  python)
    python3 -c 'import iap; print(iap.__version__)' >version
    says version '^[0-9]+\.[0-9]+\.[0-9]+$'
    python3 "$examples/python/cartpole_es.py" 3 cartpole.iap >es
    block embedding.md python 1 >host.py
    python3 host.py "$policy" >returned
    says returned "$expected"
    { echo "import iap"; block embedding.md python 2; } >more.py
    python3 more.py
    says es '^evaluation [0-9.]+; .iap play cartpole.iap. shows it$'
    ;;
  c)
    block embedding.md c 1 >host.c
    cc host.c -o host $(pkg-config --cflags --libs iap)
    ./host "$policy" >returned
    says returned "$expected"
    cc "$examples/host_c/main.c" -o host $(pkg-config --cflags --libs iap)
    ! ./host nowhere.iap nowhere.bin 1 2>said
    says said nowhere.iap
    cc "$examples/play_c/main.c" -o play $(pkg-config --cflags --libs iap)
    ./play "$policy" 5 last.ppm >played
    [ "$(wc -l <played)" = 250 ] && [ "$(head -n 1 last.ppm)" = "P6 320 240 255" ]
    cmake -S "$examples/play_c" -B build >cmake.log 2>&1 && cmake --build build >>cmake.log 2>&1 || { cat cmake.log; exit 1; }
    build/play_c "$policy" 5 again.ppm | cmp - played
    ;;
  cpp)
    block embedding.md cpp 1 >host.cpp
    block embedding.md cmake 1 >CMakeLists.txt
    CC=clang-19 CXX=clang++-19 cmake -G Ninja -B own >cmake.log 2>&1 && cmake --build own >>cmake.log 2>&1 || { tail -n 40 cmake.log; exit 1; }
    own/host "$policy" >returned
    says returned "$expected"
    CC=clang-19 CXX=clang++-19 cmake -G Ninja -S "$examples/host_cpp" -B build -DCMAKE_BUILD_TYPE=Release >cmake.log 2>&1 &&
      cmake --build build >>cmake.log 2>&1 || { tail -n 40 cmake.log; exit 1; }
    build/host_cpp "$policy" 5 >played
    iap eval "$policy" --episodes 1 --seed 5 --csv episodes.csv --actions actions.csv >eval
    seed=$(sed -n 2p episodes.csv | cut -d, -f2)
    build/host_cpp "$policy" "$seed" | cmp - <(cut -d, -f2- actions.csv)
    ;;
  *) echo "no part '$part'"; exit 2 ;;
esac
