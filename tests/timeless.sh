# shellcheck shell=bash
# timeless FILE: metrics.csv without its times, and what goes between ranks
timeless() {
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(seconds|steps_per_second|messages|bytes)$/) times[i] = 1 }
    { for (i = 1; i <= NF; i++) if (!(i in times)) printf "%s,", $i; print "" }' "$1"
}
