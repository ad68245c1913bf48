// Declarations that the binding files share. Each binds one folder of src/hilo, env/ in four files.
// module.cpp calls them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"

namespace hilo {
class Store;
}

namespace hilo::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_core(nb::module_& m);
void bind_env(nb::module_& m);  // calls the next three
void bind_tables(nb::module_& m);
void bind_episodes(nb::module_& m);
void bind_simulators(nb::module_& m);
void bind_programs(nb::module_& m);
void bind_rollout(nb::module_& m);
void bind_single_run(nb::module_& m);
void bind_learner(nb::module_& m);
void bind_evaluate(nb::module_& m);
void bind_estimator(nb::module_& m);
void bind_policy(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_agent(nb::module_& m);
void bind_diagnose(nb::module_& m);
void bind_experiment(nb::module_& m);
void bind_vectors(nb::module_& m);
void bind_control(nb::module_& m);
void bind_store(nb::module_& m);
void bind_report(nb::module_& m);
void bind_python_simulator(nb::module_& m);
void bind_python_agent(nb::module_& m);

// Replaces nanobind's message about arguments that do not fit, for all functions of the module.
void explain_arguments(const nb::module_& m);

// Returns the name. Throws unless the store has the experiment; the message suggests the nearest
// name.
const std::string& known_experiment(const Store& store, const std::string& name);

using Parameter = std::map<std::string, Value>;

// The parameters of a kind as Python dicts, for lists of kinds.
nb::list list_parameters(std::span<const ParameterInfo> infos);

template <class T>
using Vector = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, const T, nb::ndim<2>, nb::c_contig>;

// Arrays from Python, which are read without a copy.
template <class T>
using InVector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A vector of states or actions. Arrays of floats are refused: 1.5 is not a state.
struct Indices {
  std::vector<std::uint32_t> all;
  const std::uint32_t* data() const { return all.data(); }
  std::size_t size() const { return all.size(); }
};

template <class T>
std::span<const T> span_of(const InVector<T>& array) {
  return {array.data(), array.size()};
}

// A read-only array in the memory of `owner`, which it keeps alive.
template <class T>
Vector<T> view(std::span<const T> values, nb::handle owner) {
  return Vector<T>(values.data(), {values.size()}, owner);
}
template <class T>
Matrix<T> view(std::span<const T> values, std::size_t rows, nb::handle owner) {
  return Matrix<T>(values.data(), {rows, rows == 0 ? 0 : values.size() / rows}, owner);
}

// An array that owns its values.
template <class T>
nb::capsule hold(std::vector<T>& values) {
  auto* kept = new std::vector<T>(std::move(values));
  return nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}
template <class T>
Vector<T> own(std::vector<T> values) {
  const nb::capsule owner = hold(values);
  auto& kept = *static_cast<std::vector<T>*>(owner.data());
  return Vector<T>(kept.data(), {kept.size()}, owner);
}
template <class T>
Matrix<T> own(std::vector<T> values, std::size_t rows) {
  const nb::capsule owner = hold(values);
  auto& kept = *static_cast<std::vector<T>*>(owner.data());
  return Matrix<T>(kept.data(), {rows, rows == 0 ? 0 : kept.size() / rows}, owner);
}

inline nb::bytes bytes_of(const std::vector<std::byte>& bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A function of the package that makes a pickled object again. pickle refers to it by name.
inline nb::object rebuild(const char* name) {
  return nb::module_::import_("hilo._rebuild").attr(name);
}

// Keyword arguments as named parameters; the library checks them.
inline Parameter parameters_of(const nb::kwargs& kwargs) {
  Parameter out;
  for (const auto item : kwargs) {
    const std::string name = nb::cast<std::string>(item.first);
    Value value;
    if (!nb::try_cast<Value>(item.second, value))
      throw Error(Errc::usage, name + " is " + nb::cast<std::string>(nb::repr(item.second)) +
                                   ", but must be a bool, a whole number, a number or a text");
    out[name] = value;
  }
  return out;
}

}  // namespace hilo::python

namespace nanobind::detail {

template <>
struct type_caster<hilo::python::Indices> {
  NB_TYPE_CASTER(hilo::python::Indices, const_name("numpy.typing.NDArray[numpy.uint32]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    try {
      const object array = module_::import_("numpy").attr("asarray")(source);
      const auto kind = cast<std::string>(array.attr("dtype").attr("kind"));
      const auto count = cast<std::size_t>(array.attr("size"));
      if (cast<int>(array.attr("ndim")) != 1 || (count > 0 && kind != "i" && kind != "u"))
        return false;
      for (const handle one : array.attr("tolist")()) {
        const auto number = cast<std::int64_t>(one);
        if (number < 0 || number > 0xffffffffLL) return false;
        value.all.push_back(static_cast<std::uint32_t>(number));
      }
      return true;
    } catch (const std::exception&) {
      PyErr_Clear();
      return false;
    }
  }
};

}  // namespace nanobind::detail
