#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hilo {

static_assert(std::endian::native == std::endian::little, "archives are little-endian");

// For lists whose length is limited only by the number of bytes left in the archive.
inline constexpr std::size_t kAnyLength = static_cast<std::size_t>(-1);

// Writes the state of an object as bytes: a tag and a version, then values in a fixed order, then a
// checksum over all of it.
class ArchiveWriter {
 public:
  ArchiveWriter(std::string_view tag, std::uint32_t version);

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void value(const T& x) { append(&x, sizeof(T)); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void array(std::span<const T> xs) {
    value(static_cast<std::uint64_t>(xs.size()));
    append(xs.data(), xs.size_bytes());
  }

  void text(std::string_view text) { array<char>(text); }

  std::vector<std::byte> finish();

 private:
  void append(const void* data, std::size_t size);

  std::vector<std::byte> bytes_;
};

// Reads what ArchiveWriter wrote. The bytes are never trusted: the checksum, the tag and the
// version are checked first, every length is checked against what the reader expects, and finish()
// throws if bytes are left over.
class ArchiveReader {
 public:
  ArchiveReader(std::span<const std::byte> bytes, std::string_view tag, std::uint32_t version);

  template <class T>
  requires std::is_trivially_copyable_v<T> T value() {
    T x;
    take(&x, sizeof(T));
    return x;
  }

  // Throws unless the stored value equals `expected`; `what` names it.
  template <std::equality_comparable T>
  void expect(std::string_view what, const T& expected) {
    if (!(value<T>() == expected)) mismatch(what);
  }

  // Fills `xs`, whose size must be the stored one.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void array(std::string_view what, std::span<T> xs) {
    expect(what, static_cast<std::uint64_t>(xs.size()));
    take(xs.data(), xs.size_bytes());
  }

  // Reads a bool. Copying a byte other than 0 or 1 into a bool would be undefined behaviour.
  bool flag(std::string_view what) {
    const auto byte = value<std::uint8_t>();
    if (byte > 1) mismatch(what);
    return byte == 1;
  }

  // An array of any length up to `most`.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> list(std::string_view what,
                                                               std::size_t most) {
    const auto size = value<std::uint64_t>();
    if (size > most || size > rest_.size() / sizeof(T)) mismatch(what);
    std::vector<T> xs(static_cast<std::size_t>(size));
    take(xs.data(), xs.size() * sizeof(T));
    return xs;
  }

  std::string text(std::string_view what) {
    const std::vector<char> characters = list<char>(what, kAnyLength);
    return {characters.begin(), characters.end()};
  }

  void finish() const;
  [[noreturn]] static void mismatch(std::string_view what);  // "saved state has another {what}"

 private:
  void take(void* data, std::size_t size);

  std::span<const std::byte> rest_;
};

}  // namespace hilo
