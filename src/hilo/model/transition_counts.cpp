#include "hilo/model/transition_counts.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

void TransitionCounts::save(ArchiveWriter& out) const {
  std::vector<std::uint32_t> sizes;
  std::vector<Successor> all;
  sizes.reserve(rows_.size());
  for (const auto& row : rows_) {
    sizes.push_back(static_cast<std::uint32_t>(row.size()));
    all.insert(all.end(), row.begin(), row.end());
  }
  out.array<std::uint32_t>(sizes);
  out.array<Successor>(all);
}

void TransitionCounts::load(ArchiveReader& in, std::size_t num_states) {
  std::vector<std::uint32_t> sizes(rows_.size());
  in.array<std::uint32_t>("number of rows", sizes);
  std::size_t total = 0;
  for (const std::uint32_t size : sizes) {
    require_within("size of a saved row", std::uint64_t{size}, 0, num_states, Errc::data);
    total += size;
  }
  const auto all = in.list<Successor>("number of successors", total);
  if (all.size() != total) throw Error(Errc::data, "saved rows and their sizes do not fit");
  auto from = all.begin();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].assign(from, from + sizes[i]);
    from += sizes[i];
    for (const Successor& successor : rows_[i])
      require_within("saved successor", std::uint64_t{successor.next}, 0, num_states - 1,
                     Errc::data);
  }
}

}  // namespace hilo
