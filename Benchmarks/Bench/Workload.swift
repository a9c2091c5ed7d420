/// The table and the rows of docs/PERFORMANCE.md, for one kind of key.
struct Workload {
    enum Keys: String, CaseIterable {
        /// Random version 4 UUIDs as text.
        case text = "T"
        /// Integers in sequence.
        case integer = "I"
    }

    let keys: Keys
    /// Rows of one bulk step. Autocommit steps take a fifth, and merging takes half on each side.
    let rows: Int

    var single: Int { rows / 5 }
    var total: Int { rows + single }

    private let identifiers: [[UInt8]]
    private let names: [[UInt8]]
    private let emails: [[UInt8]]

    init(keys: Keys, rows: Int) {
        self.keys = keys
        self.rows = rows
        var state: UInt64 = 42
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16
        }
        let digits = Array("0123456789abcdef".utf8)
        let total = rows + rows / 5
        identifiers = (0..<total).map { _ in
            (0..<36).map { position in
                switch position {
                case 8, 13, 18, 23: UInt8(ascii: "-")
                case 14: UInt8(ascii: "4")
                default: digits[Int(next() % 16)]
                }
            }
        }
        names = (0..<total).map { Array("name \($0)".utf8) }
        emails = (0..<total).map { Array("user\($0)@example.com".utf8) }
    }

    var schema: String {
        let key = keys == .text ? "id TEXT PRIMARY KEY NOT NULL" : "id INTEGER PRIMARY KEY"
        return "CREATE TABLE person(\(key), name TEXT NOT NULL, email TEXT, age INTEGER, score REAL, created REAL)"
    }

    static let insertSQL = "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)"

    func bindRow(_ index: Int, to statement: PlainStatement) {
        bindKey(index, to: statement, at: 1)
        statement.bind(names[index], at: 2)
        statement.bind(emails[index], at: 3)
        statement.bind(Int64(index % 90), at: 4)
        statement.bind(Double(index) * 1.5, at: 5)
        statement.bind(1_700_000_000 + Double(index), at: 6)
    }

    func bindKey(_ index: Int, to statement: PlainStatement, at position: Int32) {
        if keys == .text {
            statement.bind(identifiers[index], at: position)
        } else {
            statement.bind(Int64(index + 1), at: position)
        }
    }
}
