#pragma once

#include <string>
#include <vector>

#include "hilo/driver/evaluation_outcome.hpp"
#include "hilo/report/table.hpp"

namespace hilo {

// What came out, in one or two sentences.
std::string headline(const EvaluationOutcome& outcome);
// Words of caution and what else has to be known, as sentences.
std::vector<std::string> cautions(const EvaluationOutcome& outcome);

// Values, differences, simulators, correlations and stages, as far as there are any.
std::vector<Table> evaluation_tables(const EvaluationOutcome& outcome);

// All of it for a terminal.
std::string evaluation_text(const EvaluationOutcome& outcome);
// The same as JSON, on one line.
std::string evaluation_json(const EvaluationOutcome& outcome);
// A page of its own, which works offline; `command` is how it was made.
std::string make_evaluation_page(const EvaluationOutcome& outcome, const std::string& command);

}  // namespace hilo
