#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

// For the sources of this folder only: SQLite with hilo's error type.
namespace hilo {

class Database;

// A prepared statement. Bind in order, then step through the rows or run it once.
class Statement {
 public:
  Statement(Database& db, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind(std::span<const std::byte> value);

  bool step();   // whether there is a row
  void reset();  // ready to be bound again
  void run();    // to the end, then reset

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  std::vector<std::byte> blob(int column) const;

 private:
  void check(int code);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database& db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

class Database {
 public:
  enum class Mode : std::uint8_t { read, write, create };
  // `what` is what messages call the file: a store, or a journal.
  Database(const std::filesystem::path& file, Mode mode, std::string what = "store");

  void execute(const std::string& sql);
  std::int64_t pragma(const std::string& name);
  std::int64_t last_id() const;

  // Throws the error that a result code of SQLite stands for: Errc::data if the file is damaged or
  // not a store, Errc::io otherwise.
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return db_.get(); }
  const std::string& name() const { return name_; }
  const std::string& what() const { return what_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string name_, what_;
  std::unique_ptr<sqlite3, Close> db_;
};

// A write transaction. It is rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.execute("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& db_;
  bool open_ = true;
};

// While it exists, all reads see the same snapshot, even if other processes write meanwhile.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& db) : db_(db) { db_.execute("BEGIN"); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  ~ReadTransaction();

 private:
  Database& db_;
};

}  // namespace hilo
