#pragma once
#include "hilo/agent/agent.hpp"
