#!/usr/bin/env bash
# Opens a report in a real browser, wide and narrow, light and dark, and looks at it: browser.sh PROGRAM
# Exit code 77 where there is no browser; IAP_BROWSER names one that is not on the PATH.
set -euo pipefail
iap=$(readlink -f "$1")
here=$(readlink -f "$(dirname "$0")")
browser=${IAP_BROWSER:-$(command -v chromium chromium-browser google-chrome | head -n 1 || true)}
[ -n "$browser" ] || { echo "skipped: no chromium on the PATH, and IAP_BROWSER names no other browser"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work

cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, action_repeat = 4, time_limit = 40 }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, stride = 4, kernel = "relu", d = 4, top = 3, values = "position" },
    iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 4 }, iterations = 4, eval_every = 1, eval_episodes = 2, quiet = true, threads = 1,
}
LUA
for seed in 1 2; do "$iap" run train.lua --seed $seed --out "relu-$seed"; done
# What differs in many options is called like its folder: a word that is wider than a desk.
wide=exp$(printf 'n%.0s' {1..200})
"$iap" run train.lua --seed 1 --set policy.blocks.1.kernel=exp --set policy.blocks.1.d=5 --set policy.blocks.1.top=2 \
  --set optimizer.sigma=.2 --out "$wide"
"$iap" report relu-1 relu-2 "$wide" --out report.html --episodes 3

browse() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --virtual-time-budget=4000 "$@" 2>browser.log || { cat browser.log; exit 1; }
}

# The report inside a page as wide as a phone or a desk: browsers refuse to make a window that narrow.
cat report.html - >probe.html <<'HTML'
<script>
addEventListener("load", () => {
  const shown = [...document.images].filter(image => image.complete && image.naturalWidth > 0);
  const table = document.querySelector(".comparison").parentElement, hidden = table.scrollWidth - table.clientWidth;
  const numbers = [document.documentElement.scrollWidth, innerWidth, document.images.length, shown.length, hidden];
  parent.postMessage("measured " + numbers.join(" "), "*");
});
</script>
HTML
for width in 360 390 700 1180; do
  cat >frame.html <<HTML
<body style="margin: 0"><p></p><iframe src="probe.html" style="border: 0; width: ${width}px; height: 900px"></iframe>
<script>addEventListener("message", event => document.querySelector("p").textContent = event.data)</script>
HTML
  read -r _ content window images shown hidden <<<"$(browse --dump-dom "file://$work/frame.html" | grep -o 'measured [0-9 ]*')"
  [ "$window" = "$width" ] || { echo "the frame is $window pixels wide instead of $width"; exit 1; }
  [ "$content" -le "$window" ] || { echo "at $width pixels the page is $content wide: it overflows"; exit 1; }
  [ "$width" -lt 1000 ] || [ "$hidden" = 0 ] || { echo "$hidden pixels of the comparison's figures are out of sight"; exit 1; }
  [ "$images" -gt 20 ] && [ "$shown" = "$images" ] || { echo "$shown of $images images are shown"; exit 1; }
done

cat >frame.html <<'HTML'
<body style="margin: 0"><iframe src="report.html" style="border: 0; width: 390px; height: 1700px"></iframe>
HTML
browse --window-size=1180,1700 --screenshot=light.png "file://$work/report.html"
browse --window-size=1180,1700 --blink-settings=preferredColorScheme=0 --screenshot=dark.png "file://$work/report.html"
browse --window-size=500,1700 --screenshot=phone.png "file://$work/frame.html"
"$iap" run "$here/browser.lua" -- light.png dark.png phone.png
echo "the report looks right"
