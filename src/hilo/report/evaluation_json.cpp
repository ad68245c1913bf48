#include <nlohmann/json.hpp>

#include "hilo/report/evaluation_report.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;

Json to_json(const ValueEstimate& e) {
  Json out = {{"value", e.value}, {"controlled", e.controlled}};
  out["standard_error"] = e.has_interval ? Json(e.standard_error) : Json();
  out["low"] = e.has_interval ? Json(e.low) : Json();
  out["high"] = e.has_interval ? Json(e.high) : Json();
  return out;
}

Json to_json(const EvaluatedValue& value) {
  Json out = to_json(value.best);
  out["plain"] = to_json(value.plain);
  out["worth_episodes"] = value.worth_episodes;
  out["skewness"] = value.skewness;
  out["caution"] = value.caution;
  return out;
}

const char* name_of(CostUnit unit) {
  return unit == CostUnit::declared   ? "declared"
         : unit == CostUnit::reported ? "reported"
                                      : "seconds";
}

}  // namespace

std::string evaluation_json(const EvaluationOutcome& outcome) {
  Json out = {{"name", outcome.name},
              {"quantity", outcome.quantity},
              {"headline", headline(outcome)},
              {"level", outcome.level},
              {"spent", outcome.spent},
              {"equal_episodes", outcome.equal_episodes},
              {"cost_unit", name_of(outcome.unit)},
              {"failed_attempts", outcome.failed},
              {"skipped", outcome.skipped},
              {"replayed", outcome.replayed},
              {"paid", outcome.paid},
              {"coupling", outcome.coupling},
              {"cautions", cautions(outcome)},
              {"notes", outcome.notes},
              {"policies", Json::array()},
              {"comparisons", Json::array()},
              {"simulators", Json::array()},
              {"correlations", outcome.correlations},
              {"stages", Json::array()}};
  out["best"] = outcome.best ? Json(outcome.policies[*outcome.best].name) : Json();
  for (const PolicyResult& p : outcome.policies) {
    Json row = to_json(p.value);
    row["name"] = p.name;
    row["plain_half_width"] = p.plain_half_width;
    out["policies"].push_back(row);
  }
  for (const PolicyComparison& c : outcome.comparisons) {
    Json row = to_json(c.difference);
    row["a"] = outcome.policies[c.a].name;
    row["b"] = outcome.policies[c.b].name;
    row["clear"] = c.is_clear();
    out["comparisons"].push_back(row);
  }
  for (const SimulatorUse& s : outcome.simulators) {
    Json row = {{"name", s.name},   {"episodes", s.episodes},   {"free", s.free},
                {"steps", s.steps}, {"mean_cost", s.mean_cost}, {"share", s.share}};
    if (s.verdict) {
      row["used"] = s.verdict->used;
      row["reason"] = s.verdict->reason;
      row["correlation"] = {{"value", s.verdict->correlation},
                            {"low", s.verdict->low},
                            {"high", s.verdict->high},
                            {"pairs", s.verdict->pairs}};
      row["coefficient"] = s.verdict->coefficient;
    }
    out["simulators"].push_back(row);
  }
  for (const EvaluationStage& stage : outcome.stages)
    out["stages"].push_back(
        {{"episodes", stage.pairs}, {"half_width", stage.half_width}, {"level", 1 - stage.alpha}});
  // Names may come from anywhere.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hilo
