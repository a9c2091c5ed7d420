/// A table that a fleet has besides `item` when it draws what happens to that table as a whole.
enum FleetTable: String, Sendable {
    /// Is put aside under another name, and made again.
    case log
    /// Is dropped, and made again.
    case cache
    /// Its columns exchange their names, or are renamed and renamed back.
    case pair
    /// One machine excludes it for a while.
    case draft

    /// The name under which ``log`` is put aside.
    static let logPutAside = "log_old"

    /// The columns besides the key, before all migrations.
    var columns: [FleetColumn] {
        let names =
            switch self {
            case .log: ["line"]
            case .cache, .draft: ["body"]
            case .pair: ["here", "there", "tag"]
            }
        return names.map { FleetColumn(table: rawValue, name: $0) }
    }

    var sql: String {
        "CREATE TABLE \(rawValue)(id INTEGER PRIMARY KEY, \(columns.map { "\($0.name) TEXT" }.joined(separator: ", ")))"
    }

    /// Inserts the rows that the table has before all migrations.
    var firstRows: String {
        let values = columns.map { _ in "'first'" }.joined(separator: ", ")
        return "INSERT INTO \(rawValue) SELECT value, \(values) FROM json_each('[1, 2, 3, 4]')"
    }
}
