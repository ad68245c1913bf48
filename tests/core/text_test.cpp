#include "hilo/core/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hilo {
namespace {

TEST(Text, PlainTextIsUtf8WithoutControlCharacters) {
  for (const char* good : {"", "MFMCRL m=10 -3 dB", "ρ ± 1", "a,'\"`b", "\xf0\x9f\x99\x82"})
    EXPECT_TRUE(is_plain_text(good)) << good;
  for (const char* bad : {"a\nb", "\t", "\x7f", "a\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80",
                          "\xc2\x85", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_plain_text(bad)) << bad;
  EXPECT_FALSE(is_plain_text(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace hilo
