#pragma once

#include <string>

#include "hilo/report/detail/vector_view.hpp"

// For the sources of report/ only.
namespace hilo {

// An episode of a built-in system as pictures of it at a few instants; of any other problem, its
// coordinates and actions over time.
std::string film_strip(const VectorView& view, const VectorEpisode& episode);

}  // namespace hilo
