# corridor.awk: an expensive simulator in awk. Reads a request of `hilo learn --ask` and prints the
# episode for `hilo learn --tell`. States 0 to 7 form a corridor that ends in state 7; action 1 goes
# right, action 0 goes left. A step costs 0.04, and the end pays 1.
/"episode":/ { episode = number($0) }
/"test":/ { test = $0; gsub(/.*: |,/, "", test) }
/"max_steps":/ { max_steps = number($0) }
/"actions":/ { actions = number($0) }
/"epsilon":/ { epsilon = number($0) }
/"greedy":/ { part = "greedy"; next }
/"words":/ { part = "words"; next }
/^    \[/ { gsub(/[][,]/, " "); row = $0; rows[part, count[part]++] = row }

function number(line) { gsub(/.*: |,/, "", line); return line + 0 }

# The policy, as docs/learn.md defines it.
function act(step, state,    word, greedy, ties) {
  split(rows["words", step], word, " ")
  if (word[1] < epsilon * 4294967296) return int(word[2] * actions / 4294967296)
  ties = split(rows["greedy", state], greedy, " ")
  return greedy[1 + int(word[2] * ties / 4294967296)]
}

END {
  state = 0; states = "0"
  for (t = 0; t < max_steps && state != 7; t++) {
    action = act(t, state)
    state = action == 1 ? state + 1 : (state > 0 ? state - 1 : 0)
    taken = taken between action
    rewards = rewards between (state == 7 ? 1 : -0.04)
    states = states ", " state
    between = ", "
  }
  printf "{\"episode\": %d, \"test\": %s,\n \"states\": [%s],\n \"actions\": [%s],\n", \
    episode, test, states, taken
  printf " \"rewards\": [%s],\n \"truncated\": %s}\n", rewards, state == 7 ? "false" : "true"
}
