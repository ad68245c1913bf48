// Compiles fmt into the module, because Debian has it only as a shared library. Its templates must
// be instantiated explicitly.
#include <fmt/format-inl.h>

namespace fmt {
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;
}  // namespace detail
}  // namespace fmt
