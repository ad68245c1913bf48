#include "hilo/driver/detail/episode_bytes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hilo/policy/q_table.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

Arrival an_arrival() {
  Arrival arrival;
  arrival.request.at = {.episode = 7, .test = 2};
  arrival.request.attempt = 3;
  arrival.episode.begin(1);
  arrival.episode.append(0, 0.1, 2);
  arrival.episode.append(1, -3, 0);
  arrival.episode.truncated = true;
  arrival.episode.cost = 2.5;
  arrival.failed = true;
  arrival.error = "no licence";
  arrival.seconds = 4;
  return arrival;
}

TEST(EpisodeBytes, AnEpisodeTravelsWhole) {
  const Arrival sent = an_arrival();
  const Arrival got = arrival_from_bytes(to_bytes(sent));
  EXPECT_EQ(got.request.at, sent.request.at);
  EXPECT_EQ(got.request.attempt, sent.request.attempt);
  EXPECT_EQ(got.episode.states, sent.episode.states);
  EXPECT_EQ(got.episode.actions, sent.episode.actions);
  EXPECT_EQ(got.episode.rewards, sent.episode.rewards);
  EXPECT_EQ(got.episode.truncated, sent.episode.truncated);
  EXPECT_EQ(got.episode.cost, sent.episode.cost);
  EXPECT_EQ(got.failed, sent.failed);
  EXPECT_EQ(got.error, sent.error);
  EXPECT_EQ(got.seconds, sent.seconds);
}

TEST(EpisodeBytes, ARequestTravelsWithItsPolicy) {
  QTable q(5, 3);
  q.set(2, 1, 4);
  const LearnRequest sent = {.at = {.episode = 9},
                             .attempt = 1,
                             .streams = {.seed = 8, .purpose = Purpose::high_episode, .episode = 9},
                             .horizon = {.gamma = 0.9, .max_steps = 50},
                             .policy = q.behaviour(0.1)};
  const ReceivedRequest received(to_bytes(sent), 5, 3);
  const LearnRequest& got = received.request();
  EXPECT_EQ(got.at, sent.at);
  EXPECT_EQ(got.attempt, sent.attempt);
  EXPECT_EQ(got.simulator_seed(), sent.simulator_seed());
  for (State s = 0; s < 5; ++s)
    for (std::uint32_t t = 0; t < 50; ++t) EXPECT_EQ(got.action(t, s), sent.action(t, s));
  expect_error([&] { ReceivedRequest(to_bytes(sent), 6, 3); }, Errc::data, {"number of states"});
  expect_error([&] { ReceivedRequest(to_bytes(sent), 5, 2); }, Errc::data, {"saved state"});
}

TEST(EpisodeBytes, DamageIsFound) {
  std::vector<std::byte> bytes = to_bytes(an_arrival());
  for (std::byte& byte : bytes) {
    byte ^= std::byte{0x10};
    EXPECT_THROW(arrival_from_bytes(bytes), Error);
    byte ^= std::byte{0x10};
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(arrival_from_bytes(std::span(bytes).first(size)), Error);
}

}  // namespace
}  // namespace hilo
