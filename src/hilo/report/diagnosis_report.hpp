#pragma once

#include <string>
#include <vector>

#include "hilo/diagnose/diagnosis.hpp"

namespace hilo {

// Where a diagnosis comes from.
struct DiagnosisSource {
  std::string experiment, problem;
  std::uint64_t seed = 0;
  std::string policy;  // "uniform", or whose
  std::string agent;   // whose m and problem were looked at
};

// What was found, in plain sentences, most important first.
std::vector<std::string> explain(const Diagnosis& diagnosis);

// All of it for machines, the sentences included; what a store keeps and a page shows.
std::string to_json_text(const Diagnosis& diagnosis, const DiagnosisSource& source);

// A stored diagnosis as a page needs it; a store may hold anything.
struct StoredDiagnosis {
  std::string verdict, title;
  std::vector<std::string> sentences;
};
StoredDiagnosis read_diagnosis(const std::string& json);

}  // namespace hilo
