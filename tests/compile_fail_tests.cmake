# Slips that users make when they write a simulator, and what the compiler must say of each: a message
# of hilo's, and no list of constraints.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  return()
endif()

# compile_fail_test(NAME MACRO MESSAGE): with the macro the compiler must stop with the message. An
# empty message: it must not stop.
function(compile_fail_test name macro message)
  hilo_project_test(simulator_${name} ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER}
                    "-DINCLUDE=${PROJECT_SOURCE_DIR}/src;${HILO_RANDOM123_INCLUDE_DIR}"
                    -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/simulator.cpp
                    "-DMACRO=${macro}" "-DMESSAGE=${message}"
                    -P ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail_test.cmake)
endfunction()

compile_fail_test(compiles "" "")
compile_fail_test(step_not_const "STEP=hilo::Step step(hilo::State s, hilo::Action, hilo::Rng&)"
                  "step of the simulator must be const")
compile_fail_test(reset_not_const "RESET=hilo::State reset(hilo::Rng&)"
                  "reset of the simulator must be const")
compile_fail_test(num_states_not_const "NUM_STATES=std::size_t num_states()"
                  "num_states of the simulator must be const")
compile_fail_test(is_terminal_not_const "IS_TERMINAL=bool is_terminal(hilo::State)"
                  "is_terminal of the simulator must be const")
compile_fail_test(step_without_rng "STEP=hilo::Step step(hilo::State s, hilo::Action) const"
                  "the simulator needs a public `hilo::Step step(hilo::State, hilo::Action")
compile_fail_test(reset_missing "RESET=hilo::State begin(hilo::Rng&) const"
                  "the simulator needs a public `hilo::State reset(hilo::Rng&) const`")
compile_fail_test(reset_returns_int "RESET=int reset(hilo::Rng&) const"
                  "reset of the simulator must return hilo::State")
compile_fail_test(step_returns_a_pair
                  "STEP=std::pair<hilo::State, double> step(hilo::State s, hilo::Action, hilo::Rng&) const;STEP_RETURNS={s, 0.0}"
                  "step of the simulator must return hilo::Step")
compile_fail_test(reward_returns_a_pair
                  "REWARD=hilo::StateAction reward(hilo::State, hilo::Action, hilo::State) const"
                  "reward of the simulator must return a double")
compile_fail_test(reward_private "ACCESS=private"
                  "the simulator needs a public `double reward(")
compile_fail_test(model_not_const "MODEL=const hilo::Model* model()"
                  "model of the simulator must be const")
