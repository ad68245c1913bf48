#include "hilo/store/detail/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "hilo/core/error.hpp"

namespace hilo {

Statement::Statement(Database& db, std::string_view sql) : db_(db) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(db.handle(), sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr));
  statement_.reset(statement);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::check(int code) {
  if (code != SQLITE_OK) db_.fail(code);
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_++, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  check(sqlite3_bind_text(statement_.get(), next_++, value.data(), static_cast<int>(value.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> value) {
  check(sqlite3_bind_blob(statement_.get(), next_++, value.data(), static_cast<int>(value.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    db_.fail(code);
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  check(sqlite3_reset(statement_.get()));
  next_ = 1;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text == nullptr ? "" : std::string(text, size);
}

std::vector<std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::vector<std::byte>() : std::vector<std::byte>(data, data + size);
}

Database::Database(const std::filesystem::path& file, Mode mode, std::string what)
    : name_(file.string()), what_(std::move(what)) {
  sqlite3* db = nullptr;
  const int flags = mode == Mode::read    ? SQLITE_OPEN_READONLY
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // An absolute path, because SQLite gives names such as ":memory:" and "file:x" another meaning.
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(file, ignored).string();
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(db, 2000);
  // Without write permission, SQLite opens the file for reading only. That must fail here, not at
  // the first write.
  if (mode != Mode::read && sqlite3_db_readonly(db, "main") == 1) fail(SQLITE_READONLY);
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::pragma(const std::string& name) {
  Statement statement(*this, "PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(db_.get()); }

void Database::fail(int code) const {
  const char* reason = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw Error(Errc::data, fmt::format("{}: is not a hilo {}", name_, what_));
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:       // a table or a column is missing
    case SQLITE_CONSTRAINT:  // rows that contradict each other
    case SQLITE_MISMATCH:
      throw Error(Errc::data, fmt::format("{}: the {} is damaged: {}", name_, what_, reason));
    case SQLITE_READONLY:
      throw Error(Errc::io, fmt::format("{}: the {} cannot be written: {}", name_, what_, reason));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(Errc::io, fmt::format("{}: the {} is in use by another process", name_, what_));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw Error(Errc::io, fmt::format("{}: the {} cannot be written, is the disk full? ({}); "
                                        "what was stored before is kept",
                                        name_, what_, reason));
    default:
      throw Error(Errc::io, fmt::format("{}: {}", name_, reason));
  }
}

Transaction::~Transaction() {
  // Fails only if SQLite has already rolled back by itself.
  if (open_) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

ReadTransaction::~ReadTransaction() {
  sqlite3_exec(db_.handle(), "COMMIT", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  db_.execute("COMMIT");
  open_ = false;
}

}  // namespace hilo
