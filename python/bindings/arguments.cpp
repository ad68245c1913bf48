#include <array>

#include "bindings.hpp"

// If arguments fit no overload, nanobind lists the signatures in terms of C++. hilo/_arguments.py
// replaces that message by one that says which argument is wrong and what it must be. It is called
// only after a call has failed, so that calls do not become slower: the entry function of every
// function of the module is wrapped by one of those below.
namespace hilo::python {
namespace {

constexpr std::size_t kMaxEntries = 8;  // nanobind has fewer, one per number and kinds of arguments
std::array<vectorcallfunc, kMaxEntries> entries = {};
std::size_t num_entries = 0;

// Whether nanobind raised the error for this call. The user's own code may raise a TypeError as
// well.
bool is_about_arguments(const nb::python_error& error, nb::handle function) {
  const auto text = nb::cast<std::string>(nb::str(error.value()));
  const auto name = nb::cast<std::string>(function.attr("__name__"));
  return text.starts_with(name + "(): incompatible function arguments.");
}

void explain(PyObject* function, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  // nanobind marks calls between its own functions with the bit below the one of the protocol.
  const auto count =
      static_cast<std::size_t>(PyVectorcall_NARGS(flags)) & ~(PY_VECTORCALL_ARGUMENTS_OFFSET >> 1);
  nb::list given;
  for (std::size_t i = 0; i < count; ++i) given.append(nb::handle(arguments[i]));
  nb::dict named;
  const auto num_named = names != nullptr ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
  for (std::size_t i = 0; i < num_named; ++i)
    named[nb::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)))] =
        nb::handle(arguments[count + i]);
  const nb::object error =
      nb::module_::import_("hilo._arguments").attr("explain")(nb::handle(function), given, named);
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

template <std::size_t I>
PyObject* call(PyObject* function, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  PyObject* out = entries[I](function, arguments, flags, names);
  if (out != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return out;
  nb::python_error error;  // takes the error indicator
  try {
    if (is_about_arguments(error, function)) {
      explain(function, arguments, flags, names);
      return nullptr;
    }
  } catch (const std::exception&) {
    // Without an explanation, nanobind's message is raised.
  }
  error.restore();
  return nullptr;
}

template <std::size_t... I>
constexpr std::array<vectorcallfunc, kMaxEntries> make_calls(std::index_sequence<I...>) {
  return {&call<I>...};
}
constexpr std::array<vectorcallfunc, kMaxEntries> kCalls =
    make_calls(std::make_index_sequence<kMaxEntries>());

void put_before(nb::handle function) {
  PyTypeObject* type = Py_TYPE(function.ptr());
  if (!nb::hasattr(function, "__nb_signature__") ||
      PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) == 0)
    return;
  auto* place = reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) +
                                                  type->tp_vectorcall_offset);
  for (std::size_t i = 0; i < num_entries; ++i) {
    if (*place == kCalls[i]) return;
    if (*place != entries[i]) continue;
    *place = kCalls[i];
    return;
  }
  if (num_entries == kMaxEntries) return;
  entries[num_entries] = *place;
  *place = kCalls[num_entries++];
}

}  // namespace

void explain_arguments(const nb::module_& m) {
  for (const auto& [name, thing] : nb::cast<nb::dict>(m.attr("__dict__"))) {
    put_before(thing);
    if (!nb::isinstance<nb::type_object>(thing)) continue;
    const nb::object members =
        nb::module_::import_("builtins").attr("dict")(thing.attr("__dict__"));
    for (const auto& [key, member] : nb::cast<nb::dict>(members)) put_before(member);
  }
}

}  // namespace hilo::python
