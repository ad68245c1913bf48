#pragma once

#include <string>
#include <vector>

// For the sources of this folder only: the files behind a program.
namespace hilo {

// "10, 20" as its parts, without blanks.
std::vector<std::string> split_list(const std::string& text);

// Hashes, as hex digits. A program stands for the executable, for every other word of its command
// that is a file, and for its inputs. Throws Errc::io if an input cannot be read.
std::string hash_of_program(const std::string& command, const std::vector<std::string>& inputs);
std::string hash_of_folder(const std::string& folder);

// The command with every word that is a file made absolute, so that it can be run in another
// folder. Commands for a shell stay as they are.
std::string command_from_anywhere(const std::string& command);

}  // namespace hilo
