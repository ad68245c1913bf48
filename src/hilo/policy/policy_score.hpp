#pragma once

#include "hilo/policy/network_policy.hpp"

namespace hilo {

// The score of a random network policy with respect to its outputs, d log pi(a | s) / d output, for
// many observations at once: what a policy gradient pulls the outputs by (network_gradient.hpp).
//
// Discrete actions are those of SoftmaxPolicy, whose score is 1{u = a} - pi(u | s). Actions in a
// box are those of NetworkPolicy with noise: normal around the output m with the standard deviation
// sigma = noise * half the width of the box, and clamped to the box. Their score is
//
//   (a - m) / sigma^2          inside of the box
//   +h((high - m)/sigma)/sigma at its upper bound, where h(z) = density / P(Z > z)
//   -h((m - low)/sigma)/sigma  at its lower bound
//
// which is the exact derivative for what was executed: the clamped action, not the number before.
// It needs no record of that number, and its variance is smaller.
void policy_score(const NetworkShape& shape, double noise, const Columns& outputs,
                  const Columns& actions, Columns& score);

}  // namespace hilo
