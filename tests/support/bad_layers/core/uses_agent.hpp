#pragma once
#include "hilo/agent/tabular_agent.hpp"
