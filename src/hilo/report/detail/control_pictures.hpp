#pragma once

#include <string>

#include "hilo/driver/learner.hpp"

// For the sources of report/ only: what the page of a learn run shows of a problem of vectors.
namespace hilo {

// Parts of the page as HTML with inline SVG. They are empty in the domain of tables, and where
// there is nothing to show.
struct ControlPictures {
  std::string episode;    // a film strip of the final episode
  std::string policy;     // its actions over two coordinates
  std::string residuals;  // of the cheap simulator, as predicted and as seen
};

ControlPictures make_control_pictures(const Learner& learner);

}  // namespace hilo
