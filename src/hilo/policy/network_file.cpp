#include "hilo/policy/network_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(Errc::data, fmt::format("{}: {}", where, message));
}

// A value in a message. Lists and objects, which may be nested without end, by their type.
std::string shown(const Json& json) {
  return json.is_structured() ? json.type_name() : json.dump();
}

// Bounds that are infinite are null.
OrderedJson bounds_json(std::span<const double> bounds) {
  OrderedJson out = OrderedJson::array();
  for (const double x : bounds) out.push_back(std::isfinite(x) ? OrderedJson(x) : OrderedJson());
  return out;
}

OrderedJson space_json(const Space& space) {
  if (space.is_discrete()) return {{"choices", space.size()}};
  return {{"low", bounds_json(space.low())}, {"high", bounds_json(space.high())}};
}

std::vector<double> numbers(const Json& json, const std::string& what, const std::string& where,
                            double for_null = NAN) {
  std::vector<double> out;
  if (!json.is_array()) fail(where, fmt::format("'{}' must be a list of numbers", what));
  for (const Json& item : json) {
    const bool is_null = item.is_null() && !std::isnan(for_null);
    if (!is_null && (!item.is_number() || !std::isfinite(item.get<double>())))
      fail(where, fmt::format("'{}' has {}, but must have numbers", what, shown(item)));
    out.push_back(is_null ? for_null : item.get<double>());
  }
  return out;
}

const Json& member(const Json& json, const char* key, const std::string& where) {
  if (!json.is_object() || !json.contains(key)) fail(where, fmt::format("'{}' is missing", key));
  return json[key];
}

Space space_in(const Json& json, const char* key, const std::string& where) {
  const Json& space = member(json, key, where);
  const std::string place = fmt::format("{}: {}", where, key);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (space.is_object() && space.contains("choices")) {
    if (!space["choices"].is_number_unsigned() || space["choices"] > NetworkShape::kMostUnits ||
        space["choices"] == 0)
      fail(place,
           fmt::format("'choices' must be a whole number from 1 to {}", NetworkShape::kMostUnits));
    return Space::discrete(space["choices"].get<std::uint64_t>());
  }
  std::vector<double> low = numbers(member(space, "low", place), "low", place, -kInfinity);
  std::vector<double> high = numbers(member(space, "high", place), "high", place, kInfinity);
  try {
    return Space::box(std::move(low), std::move(high));
  } catch (const Error& e) {
    fail(place, e.what());
  }
}

}  // namespace

std::string network_json(const NetworkShape& shape, std::span<const double> weights,
                         const std::string& name) {
  OrderedJson json = {{"hilo_policy", 1}, {"kind", kNetwork}};
  if (!name.empty()) json["name"] = name;
  json["observations"] = space_json(shape.observations);
  json["actions"] = space_json(shape.actions);
  json["angles"] = shape.angles;
  json["centre"] = shape.centre;
  json["scale"] = shape.scale;
  json["layers"] = OrderedJson::array();
  std::vector<std::size_t> sizes = shape.layers;
  sizes.push_back(shape.num_outputs());
  std::size_t inputs = shape.num_inputs(), k = 0;
  for (const std::size_t units : sizes) {
    OrderedJson rows = OrderedJson::array(), bias = OrderedJson::array();
    for (std::size_t u = 0; u < units; ++u, k += inputs + 1) {
      rows.push_back(
          std::vector<double>(weights.begin() + static_cast<std::ptrdiff_t>(k),
                              weights.begin() + static_cast<std::ptrdiff_t>(k + inputs)));
      bias.push_back(weights[k + inputs]);
    }
    json["layers"].push_back({{"weights", rows}, {"bias", bias}});
    inputs = units;
  }
  return json.dump() + "\n";
}

std::shared_ptr<const NetworkPolicy> parse_network(const std::string& text,
                                                   const std::string& where) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("hilo_policy"))
    fail(where, "is not a policy of hilo: a JSON object with the key 'hilo_policy'");
  if (json["hilo_policy"] != 1)
    fail(where, fmt::format("'hilo_policy' is {}, but this hilo knows version 1",
                            shown(json["hilo_policy"])));
  if (member(json, "kind", where) != kNetwork)
    fail(where, fmt::format("'kind' is {}, but must be \"{}\"", shown(json["kind"]), kNetwork));
  NetworkShape shape{.observations = space_in(json, "observations", where),
                     .actions = space_in(json, "actions", where),
                     .centre = numbers(member(json, "centre", where), "centre", where),
                     .scale = numbers(member(json, "scale", where), "scale", where)};
  for (const double angle : numbers(member(json, "angles", where), "angles", where)) {
    if (angle < 0 || angle > 1e6 || angle != std::floor(angle))
      fail(where, "'angles' must have coordinates of an observation, counted from 0");
    shape.angles.push_back(static_cast<std::size_t>(angle));
  }
  const Json& layers = member(json, "layers", where);
  if (!layers.is_array() || layers.empty() || layers.size() > 3)
    fail(where, "'layers' must be a list of one to three layers");
  std::vector<double> weights;
  std::size_t inputs = shape.num_inputs();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = fmt::format("{}: layer {}", where, i);
    const Json& rows = member(layers[i], "weights", place);
    const std::vector<double> bias = numbers(member(layers[i], "bias", place), "bias", place);
    if (!rows.is_array() || rows.size() != bias.size() || bias.empty())
      fail(place, "'weights' must have a row and 'bias' a number for each unit");
    for (std::size_t u = 0; u < bias.size(); ++u) {
      const std::vector<double> row = numbers(rows[u], "weights", place);
      if (row.size() != inputs)
        fail(place, fmt::format("a row of 'weights' has {} numbers, but must have {}", row.size(),
                                inputs));
      weights.insert(weights.end(), row.begin(), row.end());
      weights.push_back(bias[u]);
    }
    if (i + 1 < layers.size()) shape.layers.push_back(bias.size());
    inputs = bias.size();
  }
  if (inputs != shape.num_outputs())
    fail(where, fmt::format("the last layer has {} units, but the action needs {}", inputs,
                            shape.num_outputs()));
  try {
    return std::make_shared<const NetworkPolicy>(std::move(shape), std::move(weights));
  } catch (const Error& e) {
    fail(where, e.what());
  }
}

bool is_network(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains("kind") && json["kind"] == kNetwork;
}

std::shared_ptr<const NetworkPolicy> network_on(const NetworkPolicy& network,
                                                const Space& observations, const Space& actions) {
  const auto fits = [](const Space& a, const Space& b) {
    return a.dimension() == b.dimension() && a.size() == b.size();
  };
  if (!fits(network.observation_space(), observations))
    throw Error(Errc::usage,
                fmt::format("it is a network for observations {}, but one of the simulator is {}",
                            network.observation_space().describe(), observations.describe()));
  if (!(network.action_space() == actions))
    throw Error(Errc::usage, fmt::format("its actions are {}, but one of the simulator is {}",
                                         network.action_space().describe(), actions.describe()));
  NetworkShape shape = network.shape();
  shape.observations = observations;
  return std::make_shared<const NetworkPolicy>(
      std::move(shape), std::vector<double>(network.weights().begin(), network.weights().end()));
}

std::string network_hash(const NetworkPolicy& network) {
  return hash_hex(network_json(network.shape(), network.weights(), ""));
}

PolicyArtifact network_artifact(const NetworkShape& shape, std::span<const double> weights) {
  const std::string text = network_json(shape, weights, "");
  PolicyArtifact out{
      .kind = kNetwork, .shape = fmt::format("{} weights", weights.size()), .bytes = {}};
  for (const char c : text) out.bytes.push_back(static_cast<std::byte>(c));
  return out;
}

}  // namespace hilo
