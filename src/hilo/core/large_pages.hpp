#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hilo {

// For large tables that are read at random: asks the system for large pages, so that an address is
// translated without a walk through page tables. Where the system has none, nothing changes.
template <class T>
class LargePageAllocator {
 public:
  using value_type = T;

  LargePageAllocator() = default;
  template <class U>
  explicit LargePageAllocator(const LargePageAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kSmall) return static_cast<T*>(::operator new(bytes));
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, whole);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    madvise(memory, whole, MADV_HUGEPAGE);  // advice: it may fail
#endif
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t n) {
    if (n * sizeof(T) < kSmall)
      ::operator delete(memory);
    else
      std::free(memory);
  }

  bool operator==(const LargePageAllocator&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kSmall = kPage / 4;  // not worth a page of its own
};

}  // namespace hilo
