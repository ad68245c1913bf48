#pragma once
#include <hilo/exact/solve.hpp>
