#include "bindings.hpp"
#include "hilo/studies/our_studies.hpp"

NB_MODULE(_hilo, m) {
  using namespace hilo::python;
  m.doc() = "The engine of hilo. Use it through the package hilo.";
  hilo::add_our_studies();
  bind_core(m);
  bind_policy(m);  // before the simulators, whose methods take a policy
  bind_env(m);
  bind_python_simulator(m);
  bind_rollout(m);
  bind_estimator(m);
  bind_exact(m);
  bind_agent(m);
  bind_python_agent(m);
  bind_diagnose(m);
  bind_store(m);
  bind_experiment(m);
  bind_vectors(m);
  bind_control(m);
  bind_single_run(m);
  bind_learner(m);
  bind_evaluate(m);
  bind_report(m);
  explain_arguments(m);
}
