#include "hilo/core/moments.hpp"

#include "bindings.hpp"
#include "hilo/core/version.hpp"
#include "hilo/experiment/train.hpp"
#include "live.hpp"
#include "python_simulator.hpp"

namespace hilo::python {
namespace {

// hilo::Error becomes hilo.Error with its code. An exception of the user's own code is raised
// again.
void translate(const std::exception_ptr& exception, void* payload) {
  try {
    std::rethrow_exception(exception);
  } catch (RaisedByUser& e) {
    e.restore();
  } catch (const Interrupted&) {
    PyErr_SetString(PyExc_KeyboardInterrupt, "stopped together with other work");
  } catch (const Error& e) {
    const nb::handle type = static_cast<PyObject*>(payload);
    const nb::object error = type(e.what(), nb::cast(e.code()));
    PyErr_SetObject(type.ptr(), error.ptr());
  }
}

}  // namespace

nb::list list_parameters(std::span<const ParameterInfo> infos) {
  nb::list out;
  for (const ParameterInfo& info : infos) {
    nb::dict entry;
    entry["name"] = info.name;
    entry["description"] = info.description;
    entry["default"] = nb::cast(info.default_value);
    entry["low"] = info.low;
    entry["high"] = info.high;
    entry["choices"] = info.allowed();
    out.append(entry);
  }
  return out;
}

void bind_core(nb::module_& m) {
  m.def("version", &version, "The version of hilo, such as \"0.1.0\".");
  m.def("commit", &commit, "The commit of the sources it was built from, or \"unknown\".");

  nb::enum_<Errc>(m, "Errc",
                  "Why something failed. The value is the exit code of the program hilo.",
                  nb::is_arithmetic())
      .value("usage", Errc::usage, "The call itself is not valid.")
      .value("spec", Errc::spec, "An option or a key has a value that is not allowed.")
      .value("data", Errc::data, "A file or a table holds something that is not allowed.")
      .value("io", Errc::io, "The operating system refused to read or write.")
      .value("simulator", Errc::simulator, "A simulator broke its contract.");

  m.def(
      "set_error_type",
      [](nb::handle type) {
        // The type lives as long as the package that passes it.
        nb::register_exception_translator(translate, type.ptr());
      },
      "error"_a, "Only for the package hilo: sets the class of the errors that the engine raises.");

  m.def("end", &live::end, "Only for the package hilo, which calls it when Python ends.");

  nb::class_<Moments>(m, "Moments",
                      "Mean and variance of a sequence in O(1) memory, with weights that may fade.")
      .def(nb::init<>())
      .def("add", &Moments::add, "x"_a, "w"_a = kEqualWeights,
           "Adds a value. With w = 1 all values have equal weights, with w = 2 old ones fade.")
      .def("merge", &Moments::merge, "other"_a,
           "Adds the values of another sequence. Exact for equal weights.")
      .def_prop_ro("count", &Moments::count, "Number of values.")
      .def_prop_ro("mean", &Moments::mean, "Their weighted mean.")
      .def_prop_ro("variance", &Moments::variance, "Unbiased; 0 for fewer than two values.")
      .def_prop_ro("effective_count", &Moments::effective_count,
                   "The number of equally weighted values that would be as informative.")
      .def(
          "__eq__", [](const Moments& a, const Moments& b) { return a == b; }, nb::is_operator())
      .def("__getstate__",
           [](const Moments& x) {
             return nb::bytes(reinterpret_cast<const char*>(&x), sizeof(Moments));
           })
      .def("__setstate__",
           [](Moments& x, const nb::bytes& bytes) {
             if (bytes.size() != sizeof(Moments)) throw Error(Errc::data, "no pickled Moments");
             new (&x) Moments();
             std::memcpy(static_cast<void*>(&x), bytes.data(), sizeof(Moments));
           })
      .def("__repr__", [](const Moments& x) {
        return "Moments(count=" + std::to_string(x.count()) + ", mean=" + std::to_string(x.mean()) +
               ", variance=" + std::to_string(x.variance()) + ")";
      });

  nb::class_<CoMoments>(m, "CoMoments", "The same for pairs (x, y), with their covariance.")
      .def(nb::init<>())
      .def("add", &CoMoments::add, "x"_a, "y"_a, "w"_a = kEqualWeights, "Adds a pair.")
      .def("merge", &CoMoments::merge, "other"_a,
           "Adds the pairs of another sequence. Exact for equal weights.")
      .def_prop_ro("count", &CoMoments::count, "Number of pairs.")
      .def_prop_ro("mean_x", &CoMoments::mean_x, "Mean of x.")
      .def_prop_ro("mean_y", &CoMoments::mean_y, "Mean of y.")
      .def_prop_ro("variance_x", &CoMoments::variance_x, "Unbiased variance of x.")
      .def_prop_ro("variance_y", &CoMoments::variance_y, "Unbiased variance of y.")
      .def_prop_ro("covariance", &CoMoments::covariance, "Unbiased covariance.")
      .def(
          "__eq__", [](const CoMoments& a, const CoMoments& b) { return a == b; },
          nb::is_operator())
      .def("__getstate__",
           [](const CoMoments& x) {
             return nb::bytes(reinterpret_cast<const char*>(&x), sizeof(CoMoments));
           })
      .def("__setstate__",
           [](CoMoments& x, const nb::bytes& bytes) {
             if (bytes.size() != sizeof(CoMoments)) throw Error(Errc::data, "no pickled CoMoments");
             new (&x) CoMoments();
             std::memcpy(static_cast<void*>(&x), bytes.data(), sizeof(CoMoments));
           })
      .def("__repr__", [](const CoMoments& x) {
        return "CoMoments(count=" + std::to_string(x.count()) +
               ", mean_x=" + std::to_string(x.mean_x()) + ", mean_y=" + std::to_string(x.mean_y()) +
               ", covariance=" + std::to_string(x.covariance()) + ")";
      });
}

}  // namespace hilo::python
