#pragma once

#include <string>
#include <vector>

#include "hilo/diagnose/diagnosis.hpp"

namespace hilo {

// Where a diagnosis comes from.
struct DiagnosisSource {
  std::string experiment, problem;
  std::uint64_t seed = 0;
  std::string policy;  // "uniform", or whose policy it was
  std::string agent;   // its m and its problem were used
};

// The diagnosis in plain sentences, the most important first.
std::vector<std::string> explain(const Diagnosis& diagnosis);

// The whole diagnosis as JSON, including the sentences. A store keeps this text.
std::string to_json_text(const Diagnosis& diagnosis, const DiagnosisSource& source);

// The parts of a stored diagnosis that a report shows. read_diagnosis throws if the text is not a
// diagnosis.
struct StoredDiagnosis {
  std::string verdict, title;
  std::vector<std::string> sentences;
};
StoredDiagnosis read_diagnosis(const std::string& json);

}  // namespace hilo
