#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "hilo/driver/learner.hpp"

// What hilo learn prints.
namespace hilo::cli {

// Where a learn run writes.
struct LearnOutputs {
  std::filesystem::path policy, journal, page;
};

std::string minutes(double seconds);  // "2:07"

nlohmann::json to_json(const Bill& bill);
nlohmann::json to_json(const Learner& learner, const LearnOutputs& files);
std::string describe(const Learner& learner, const LearnOutputs& files);
// Prints what would be spent at most.
void dry_run(const LearnSpec& spec, const LearnOutputs& files, bool json);

}  // namespace hilo::cli
