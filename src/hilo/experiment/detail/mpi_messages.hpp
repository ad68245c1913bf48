#pragma once

#include <mpi.h>

#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hilo/core/error.hpp"

// For the sources that use MPI: messages between ranks. Only the thread that made the MpiJob calls
// these.
namespace hilo {

inline constexpr int kFirstRank = 0;
inline constexpr auto kPauseBetweenLooks = std::chrono::milliseconds(1);
// A rank that does not answer may have died, which may be why all are told to stop. A launcher
// gives a second for an orderly end.
inline constexpr auto kPatienceWithRanks = std::chrono::milliseconds(400);

// Receives the message that a probe has found.
template <class T>
std::vector<T> receive(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  MPI_Get_count(&status, type, &count);
  std::vector<T> message(static_cast<std::size_t>(count));
  MPI_Recv(message.data(), count, type, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

inline std::optional<MPI_Status> probe(int source) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (!there) return std::nullopt;
  return status;
}

// The length of a message as MPI wants it.
inline int message_size(std::span<const std::byte> bytes, const char* what) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(Errc::data, std::string(what) + " is too large to be sent: more than 2 GB");
  return static_cast<int>(bytes.size());
}

// Whether all ranks have the same number. All of them must call it.
inline bool is_same_on_all_ranks(std::uint64_t own) {
  std::uint64_t first = own;
  MPI_Bcast(&first, 1, MPI_UINT64_T, kFirstRank, MPI_COMM_WORLD);
  int same = own == first ? 1 : 0;
  int all_same = 0;
  MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_same != 0;
}

}  // namespace hilo
