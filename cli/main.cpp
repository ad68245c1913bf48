#include "hilo/program.hpp"

int main(int argc, char** argv) { return hilo::run_program(argc, argv); }
