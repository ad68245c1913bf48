#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hilo/driver/remote_workers.hpp"

// For the sources of this folder only: requests and episodes on their way between processes. The
// bytes are checked when they are read.
namespace hilo {

// A request with the policy that it is a view of.
class ReceivedRequest {
 public:
  // Throws Errc::data unless the bytes are a request for a simulator of this size.
  ReceivedRequest(std::span<const std::byte> bytes, std::size_t num_states,
                  std::size_t num_actions);
  ReceivedRequest(const ReceivedRequest&) = delete;
  ReceivedRequest& operator=(const ReceivedRequest&) = delete;

  const LearnRequest& request() const { return request_; }

 private:
  std::vector<GreedyHead> heads_;
  std::vector<Action> ties_;
  LearnRequest request_;
};

std::vector<std::byte> to_bytes(const LearnRequest& request);

// Of the request, only its address and the number of the attempt travel back.
std::vector<std::byte> to_bytes(const Arrival& arrival);
Arrival arrival_from_bytes(std::span<const std::byte> bytes);

}  // namespace hilo
