#include "hilo/report/detail/control_pictures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/report/detail/film_strip.hpp"
#include "hilo/report/detail/phase_plot.hpp"
#include "hilo/report/detail/residual_panels.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kMostTests = 50;  // that the residual is looked at in

// The expensive episodes of a run that pictures show.
struct History {
  std::vector<VectorEpisode> tests;          // of the final policy
  std::vector<VectorEpisode> last_training;  // one, or none
  std::uint64_t trained = 0;                 // number of that one, counted from 1
  std::uint64_t last_test = 0;               // the same of the last test
  SeenCoordinates seen;

  // The final episode.
  const VectorEpisode& final() const { return tests.empty() ? last_training[0] : tests.back(); }
  bool is_empty() const { return tests.empty() && last_training.empty(); }
};

History history_of(const Learner& learner, const VectorSimulator& high) {
  History out;
  const std::size_t dimension = std::max<std::size_t>(1, high.observation_space().dimension());
  std::uint64_t trained = 0, tested_after = 0;
  learner.for_each_attempt([&](const Attempt& attempt) {
    if (!attempt.at.test) trained = std::max(trained, attempt.at.episode + 1);
    if (attempt.failed || !attempt.paid.vectors) return;
    VectorEpisode episode = learner.vectors_of(attempt.paid);
    out.seen.add(episode.observations, dimension);
    if (!attempt.at.test) {
      out.last_training.clear();
      out.last_training.push_back(std::move(episode));
      out.trained = attempt.at.episode + 1;
      return;
    }
    if (attempt.at.episode != tested_after) out.tests.clear();
    if (out.tests.size() == kMostTests) out.tests.erase(out.tests.begin());
    tested_after = attempt.at.episode;
    out.tests.push_back(std::move(episode));
    out.last_test = *attempt.at.test + 1;
  });
  // Training that went on has made a new policy, of which earlier tests say nothing.
  if (tested_after < trained) out.tests.clear();
  return out;
}

std::string figure(const char* title, const std::string& picture, const std::string& caption) {
  return fmt::format("<figure><h2>{}</h2>{}<figcaption class=\"note\">{}</figcaption></figure>\n",
                     title, picture, escape_html(caption));
}

std::string name_of_final(const History& history) {
  return history.tests.empty()
             ? fmt::format(
                   "training episode {}, the last one; it was learnt from, and has noise "
                   "on its actions",
                   history.trained)
             : fmt::format("test episode {} of the final policy, which was not learnt from",
                           history.last_test);
}

std::string episode_part(const VectorView& view, const History& history) {
  const std::string strip = film_strip(view, history.final());
  if (strip.empty()) return "";
  std::string caption =
      fmt::format("This is {}: {} steps.", name_of_final(history), history.final().length());
  if (view.system != nullptr)
    caption +=
        " The thin line is the way of the tip since the picture before; there are more pictures "
        "where it moves faster.";
  return figure("The final episode", strip, caption);
}

std::string policy_part(const VectorView& view, const Learner& learner, const History& history) {
  const std::unique_ptr<const Policy> policy = learner.agent().greedy_policy();
  if (view.coordinates.size() < 2 || !policy->is_memoryless()) return "";
  const PhasePlane plane = phase_plane(view, policy->observation_space(), history.seen);
  std::string caption = fmt::format("What the policy does ({}) at every {} and {}", view.actions[0],
                                    view.coordinates[plane.x], view.coordinates[plane.y]);
  if (view.coordinates.size() > 2)
    caption += view.system != nullptr ? ", where the other coordinates are 0"
                                      : ", where the other coordinates are at their means";
  if (view.actions.size() > 1) caption += fmt::format("; it has {} actions", view.actions.size());
  caption += ". The line is the path of the final episode, from the circle to the dot";
  if (view.coordinates.size() > 2) caption += "; its other coordinates are what they were";
  return figure("The policy", phase_plot(view, *policy, plane, history.final()), caption + ".");
}

std::string residual_caption(const std::vector<ResidualPanel>& panels, const History& history,
                             const Corrected& agent) {
  std::string out = agent.uses_low()
                        ? "How far the expensive simulator's next state is from the cheap one's"
                        : "How far the expensive simulator's next state is from the one before, "
                          "because no cheap simulator is used";
  out += history.tests.empty()
             ? ", in the last training episode, which the model has learnt from. "
             : fmt::format(", in {} test episode{}, which {} not learnt from. ",
                           history.tests.size(), history.tests.size() == 1 ? "" : "s",
                           history.tests.size() == 1 ? "was" : "were");
  out +=
      "Bars are the model's 95 % intervals for what will be seen; they should meet the dashed "
      "line, where both are equal. Open red circles are steps outside of theirs. Inside are: ";
  std::vector<std::string> shares;
  shares.reserve(panels.size());
  for (const ResidualPanel& panel : panels)
    shares.push_back(fmt::format(
        "{} {:.1f} % of {} steps", panel.name,
        100 * static_cast<double>(panel.inside()) / static_cast<double>(panel.points.size()),
        panel.points.size()));
  return out + fmt::format("{}.", fmt::join(shares, ", "));
}

std::string residual_part(const VectorView& view, const Learner& learner, const History& history) {
  const auto* agent = dynamic_cast<const Corrected*>(&learner.agent());
  if (agent == nullptr) return "";
  std::vector<ResidualPanel> panels;
  try {
    panels = residual_panels(view, *agent,
                             history.tests.empty() ? history.last_training : history.tests);
  } catch (const Error& e) {
    // The run is done and paid for: that the cheap simulator fails now must not cost its page.
    if (e.code() != Errc::simulator) throw;
    return fmt::format("<p class=\"missing\">The residual is not shown: {}</p>\n",
                       escape_html(e.what()));
  }
  if (panels.empty()) return "";
  std::string pictures = "<div>";
  for (const ResidualPanel& panel : panels) pictures += residual_picture(panel);
  return figure("The residual: predicted and seen", pictures + "</div>\n",
                residual_caption(panels, history, *agent));
}

}  // namespace

ControlPictures make_control_pictures(const Learner& learner) {
  const auto* high = dynamic_cast<const VectorSimulator*>(&learner.high());
  if (high == nullptr) return {};
  const History history = history_of(learner, *high);
  if (history.is_empty()) return {};
  const VectorView view = view_of(*high);
  return {.episode = episode_part(view, history),
          .policy = policy_part(view, learner, history),
          .residuals = residual_part(view, learner, history)};
}

}  // namespace hilo
