# river.awk: a swimmer in ten cells, for protocol 1 of hilo. slip: how often a stroke goes backwards.
# Run it with mawk -W interactive, or gawk, which flush every line.
function draw() { state = (state * 48271) % 2147483647; return state / 2147483647 }
function say(text) { print text; fflush() }
$1 == "hello" { say("{\"hilo\":1,\"name\":\"river\",\"version\":\"1\",\"actions\":2,\"observation\":{\"states\":10},\"start\":\"value\",\"seedable\":true,\"deterministic\":false}"); next }
$1 == "reset" { state = $2 + 1; cell = 0; over = 0; draw(); say("ok 0 0"); next }
$1 == "start" { state = $2 + 1; cell = $3; over = cell == 9; draw(); say("ok " over " " cell); next }
$1 == "step" {
  if (over || ($2 != 0 && $2 != 1)) { say("error no such action, or the episode is over"); next }
  cell += ($2 == 1 && draw() >= slip) ? 1 : -1
  if (cell < 0) cell = 0
  over = cell == 9
  say("ok " (over ? 1 : -0.01) " " over " " cell); next
}
$1 == "reward" { say("ok " ($4 == 9 ? 1 : -0.01)); next }
$1 == "quit" { exit }
{ say("error unknown request") }
