#!/bin/sh
# interface.sh FILE.cppm: a module's interface as doxygen reads C++: without the words of modules. What exports nothing is left out.
grep -q '^export module' "$1" || exit 0
exec sed -E 's/^(export )?module[^;]*;//; s/^(export )?import [^;]*;//; s/^export //' "$1"
