#pragma once

#include <string>
#include <vector>

#include "hilo/driver/evaluation_outcome.hpp"
#include "hilo/report/table.hpp"

namespace hilo {

// What came out, in one or two sentences.
std::string headline(const EvaluationOutcome& outcome);
// Words of caution about the numbers, as sentences. Other notes are in the outcome.
std::vector<std::string> cautions(const EvaluationOutcome& outcome);

// What became of each cheap simulator, as sentences.
std::vector<std::string> cheap_verdicts(const EvaluationOutcome& outcome);

// Values, differences, simulators, correlations and stages, as far as there are any.
std::vector<Table> evaluation_tables(const EvaluationOutcome& outcome);

// All of it for a terminal.
std::string evaluation_text(const EvaluationOutcome& outcome);
// The same as JSON, on one line.
std::string evaluation_json(const EvaluationOutcome& outcome);
// A page of its own, which works offline; `command` is how it was made.
std::string make_evaluation_page(const EvaluationOutcome& outcome, const std::string& command);

}  // namespace hilo
