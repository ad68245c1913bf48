#include <fmt/format.h>

#include <string_view>

#include "hilo/env/program/detail/program_side.hpp"

namespace hilo {
namespace {

ParameterInfo text_parameter(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description), .default_value = ""};
}

ParameterInfo list_parameter(std::string name, std::string description) {
  ParameterInfo info = text_parameter(std::move(name), std::move(description));
  info.is_list = true;
  return info;
}

ParameterInfo count_parameter(std::string name, std::string description, std::int64_t value,
                              double low, double high) {
  return {.name = std::move(name),
          .description = std::move(description),
          .default_value = value,
          .low = low,
          .high = high};
}

ParameterInfo seconds_parameter(std::string name, std::string description, double value) {
  return {.name = std::move(name),
          .description = std::move(description),
          .default_value = value,
          .low = 0,
          .high = 1e9};
}

// What decides nothing about results, and may change when a run goes on.
std::vector<ParameterInfo> running_parameters(bool high) {
  std::vector<ParameterInfo> infos = {
      text_parameter("command", "the program, split at blanks; a shell gets it if it has quotes"),
      text_parameter("table", "instead of a command: a folder with an MDP as CSV"),
      text_parameter("builtin", "instead of a command: the simulator of one of hilo's problems"),
      text_parameter("directory", "its working folder; {worker} is the number of the instance"),
      list_parameter("inputs", "files that it reads, as a list: part of its identity"),
      text_parameter("identity", "replaces the hash of the program and its inputs"),
      seconds_parameter("timeout_start", "seconds until it must have answered hello", 60),
      seconds_parameter("timeout_step", "seconds for any other answer; 0: for ever", 600),
      seconds_parameter("timeout_episode", "seconds for an episode or roll-out; 0: for ever", 0),
      count_parameter("restart_every", "episodes after which it is started anew; 0: never", 0, 0,
                      1e9),
      count_parameter("memory_mb", "limit of its memory; 0: none", 0, 0, 1e7),
      count_parameter("retries", "further attempts at an episode or roll-out that failed", 2, 0,
                      1000)};
  if (high) {
    infos.push_back(count_parameter("workers", "instances that run at the same time", 1, 1, 1000));
    infos.push_back(count_parameter("first_worker", "number of the first instance", 0, 0, 1e9));
    infos.push_back({.name = "on_failure",
                     .description = "for hilo learn, if all attempts at an episode failed",
                     .default_value = "skip",
                     .choices = {"skip", "stop"}});
  }
  for (ParameterInfo& info : infos) info.in_identity = false;
  return infos;
}

// What decides results.
std::vector<ParameterInfo> deciding_parameters(bool high) {
  std::vector<ParameterInfo> infos = {
      list_parameter("grid", "cells in each dimension of an observation that is a vector"),
      list_parameter("grid_low", "bounds of the grid; the program's own if not given"),
      list_parameter("grid_high", "bounds of the grid; the program's own if not given"),
      list_parameter("action_grid", "cells in each dimension of an action that is a vector")};
  infos.push_back(list_parameter("builtin_options",
                                 "parameters of the built-in problem, such as [\"cells = 8\"]"));
  if (!high) {
    infos.push_back(list_parameter("terminal", "states that are known to be terminal, as a list"));
    infos.push_back(list_parameter(
        "map", "from expensive to cheap states: a CSV file, or the coordinates to select"));
    infos.push_back(text_parameter("map.command", "a program that maps lines of observations"));
  }
  for (const char* unit : {"cost_episode", "cost_step"}) {
    if (!high && unit == std::string_view("cost_episode")) continue;
    infos.push_back(seconds_parameter(unit, "for hilo learn: what it costs, in any unit", -1));
    infos.back().low = -1;
    infos.back().high = 1e300;
  }
  return infos;
}

}  // namespace

std::vector<ParameterInfo> parameters_of_side(const std::string& side, bool high) {
  std::vector<ParameterInfo> all;
  for (std::vector<ParameterInfo> infos : {running_parameters(high), deciding_parameters(high)})
    for (ParameterInfo& info : infos) {
      info.name = fmt::format("{}.{}", side, info.name);
      info.low_fidelity_only = !high;
      info.silent_default = true;
      all.push_back(std::move(info));
    }
  return all;
}

std::vector<ParameterInfo> parameters_of_sides() {
  std::vector<ParameterInfo> all = parameters_of_side("high", true);
  all.push_back({.name = "vectors",
                 .description = "states and actions are vectors, for agents such as corrected; "
                                "false: they are numbered, or a grid numbers them",
                 .default_value = false,
                 .silent_default = true});
  all.push_back({.name = "angles",
                 .description = "coordinates of observations that are angles, from -pi to pi, "
                                "counted from 0; for vectors",
                 .default_value = "",
                 .silent_default = true,
                 .is_list = true});
  for (const char* low : kLows)
    for (ParameterInfo& info : parameters_of_side(low, false)) all.push_back(std::move(info));
  return all;
}

}  // namespace hilo
